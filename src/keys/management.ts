import { InputError } from '../errors.ts';
import type { AuditAction } from './audit-store.ts';
import type { ControlStore } from './control-store.ts';
import { describeGrant, type Grant } from './grant.ts';
import type { KeyRecord } from './key-record.ts';
import { createSecret } from './secret.ts';

/** What is said of a new key; it may do nothing but its scopes, and that without limits unless they are given. */
export interface NewKey extends Pick<Grant, 'scopes' | 'endpoints' | 'sources' | 'rate' | 'expiresMs'> {
  readonly name: string;
  readonly description?: string;
  readonly pins?: Grant['pins'];
}

/** What is to be different of a key; a member that is there with `undefined` takes its limit away. */
export type KeyChange = Partial<NewKey>;

/** A key and its text, which can be seen this once. */
export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** Makes, changes and ends keys. */
export interface KeyManagement {
  /** @param actor who does it, for the audit trail: a key's id, or `cli` */
  create(key: NewKey, actor?: string): MadeKey;
  /**
   * Changes what a key may do, from the next request on.
   *
   * @returns the key as it is now; `undefined` where there is none of this id
   * @throws InputError where it has been revoked
   */
  update(id: string, change: KeyChange, actor?: string): KeyRecord | undefined;
  /**
   * Makes a successor with the same rights. The old key is good for `overlapMs` more, unless it expires before.
   *
   * @returns `undefined` where there is no key of this id
   * @throws InputError where it has been revoked, has expired, or has a successor
   */
  rotate(id: string, overlapMs: number, actor?: string): MadeKey | undefined;
  revoke(id: string, actor?: string): boolean;
}

const CLI = 'cli';

/** Each change and its entry in the audit trail are written as one. */
export function createManagement(store: ControlStore, now: () => number): KeyManagement {
  function note(action: AuditAction, keyId: string, { actor, detail }: { actor: string; detail: string }) {
    store.audit.add({ atMs: now(), action, keyId, actor, detail, count: 1 });
  }

  function add(fields: Grant & Pick<KeyRecord, 'name' | 'description'>): MadeKey {
    const { key, id, hash } = createSecret();
    const unused = { revokedMs: undefined, lastUsedMs: undefined, successor: undefined };
    store.addKey({ ...fields, ...unused, id, hash, createdMs: now() });
    return { id, key };
  }

  return {
    create: ({ description = '', pins = {}, ...fields }, actor = CLI) =>
      store.transaction(() => {
        const made = add({ ...fields, description, pins });
        note('created', made.id, { actor, detail: describeGrant({ ...fields, pins }) });
        return made;
      }),
    update: (id, change, actor = CLI) =>
      store.transaction(() => {
        const old = store.findKey(id);
        if (old === undefined) return undefined;
        if (old.revokedMs !== undefined) throw new InputError([`the key ${id} has been revoked`]);
        const changed = { ...old, ...change };
        store.updateKey(changed);
        note('changed', id, { actor, detail: describeGrant(changed) });
        return changed;
      }),
    rotate: (id, overlapMs, actor = CLI) =>
      store.transaction(() => {
        const old = store.findKey(id);
        if (old === undefined) return undefined;
        const { revokedMs, expiresMs = Number.POSITIVE_INFINITY } = old;
        if (revokedMs !== undefined || expiresMs <= now())
          throw new InputError([
            `the key ${id} has ${revokedMs === undefined ? 'expired' : 'been revoked'}; make a new one`,
          ]);
        // Its expiry is the end of the overlap by now: another successor would end with it.
        if (old.successor !== undefined)
          throw new InputError([
            `the key ${id} has been rotated to ${old.successor} already; rotate that one, or make a new one`,
          ]);
        const made = add(old);
        const ends = Math.min(expiresMs, now() + overlapMs);
        store.updateKey({ ...old, expiresMs: ends, successor: made.id });
        note('rotated', id, { actor, detail: `successor ${made.id}` });
        return made;
      }),
    revoke: (id, actor = CLI) =>
      store.transaction(() => {
        const revoked = store.revokeKey(id, now());
        if (revoked) note('revoked', id, { actor, detail: '' });
        return revoked;
      }),
  };
}
