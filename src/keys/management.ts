import { InputError } from '../errors.ts';
import type { AuditAction } from './audit-entry.ts';
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
  readonly record: KeyRecord;
}

/** Who makes a change. */
export interface Doer {
  /** For the audit trail: a key's id, or `cli`. */
  readonly actor: string;
  /** Looks at the key as it is when it is changed. @throws what the change is to be refused with */
  readonly check?: (key: KeyRecord) => void;
}

/** Makes, changes and ends keys. */
export interface KeyManagement {
  /** @throws InputError where a text of it cannot be kept */
  create(key: NewKey, by?: Doer): Promise<MadeKey>;
  /**
   * Changes what a key may do, from the next request on.
   *
   * @returns the key as it is now; `undefined` where there is none of this id
   * @throws InputError where it has been revoked, or a text cannot be kept
   */
  update(id: string, change: KeyChange, by?: Doer): Promise<KeyRecord | undefined>;
  /**
   * Makes a successor with the same rights. The old key is good for `overlapMs` more, unless it expires before.
   *
   * @returns `undefined` where there is no key of this id
   * @throws InputError where it has been revoked, has expired, or has a successor
   */
  rotate(id: string, overlapMs: number, by?: Doer): Promise<MadeKey | undefined>;
  /** @returns whether there was a key of this id that was not revoked yet */
  revoke(id: string, by?: Doer): Promise<boolean>;
}

const CLI: Doer = { actor: 'cli' };

/** Each change and its entry in the audit trail are written as one. */
export function createManagement(store: ControlStore, now: () => number): KeyManagement {
  function entry(action: AuditAction, keyId: string, { actor, detail }: { actor: string; detail: string }) {
    return { atMs: now(), action, keyId, actor, detail, count: 1 };
  }

  function make(fields: Grant & Pick<KeyRecord, 'name' | 'description'>): MadeKey {
    const { key, id, hash } = createSecret();
    const unused = { revokedMs: undefined, lastUsedMs: undefined, successor: undefined };
    return { id, key, record: { ...fields, ...unused, id, hash, createdMs: now() } };
  }

  return {
    async create({ description = '', pins = {}, ...fields }, { actor } = CLI) {
      refuseUnkept({ description, ...fields });
      return await store.change([], () => {
        const made = make({ ...fields, description, pins });
        const detail = describeGrant({ ...fields, pins });
        return { add: [made.record], entries: [entry('created', made.id, { actor, detail })], result: made };
      });
    },
    async update(id, change, { actor, check } = CLI) {
      refuseUnkept(change);
      return await store.change([id], (find) => {
        const old = find(id);
        if (old === undefined) return { result: undefined };
        check?.(old);
        if (old.revokedMs !== undefined) throw new InputError([`the key ${id} has been revoked`]);
        const changed = { ...old, ...change };
        const detail = describeGrant(changed);
        return { update: changed, entries: [entry('changed', id, { actor, detail })], result: changed };
      });
    },
    rotate: (id, overlapMs, { actor, check } = CLI) =>
      store.change([id], (find) => {
        const old = find(id);
        if (old === undefined) return { result: undefined };
        check?.(old);
        refuseUnrotated(old, now());
        const made = make(old);
        const ends = Math.min(old.expiresMs ?? Number.POSITIVE_INFINITY, now() + overlapMs);
        return {
          add: [made.record],
          update: { ...old, expiresMs: ends, successor: made.id },
          entries: [entry('rotated', id, { actor, detail: `successor ${made.id}` })],
          result: made,
        };
      }),
    revoke: (id, { actor, check } = CLI) =>
      store.change([id], (find) => {
        const old = find(id);
        if (old === undefined) return { result: false };
        check?.(old);
        if (old.revokedMs !== undefined) return { result: false };
        const entries = [entry('revoked', id, { actor, detail: '' })];
        return { update: { ...old, revokedMs: now() }, entries, result: true };
      }),
  };
}

/** @throws InputError with each text that PostgreSQL has no way to keep; SQLite would, but keys move between the two */
function refuseUnkept(fields: Pick<KeyChange, 'name' | 'description'>): void {
  const faults = (['name', 'description'] as const)
    .filter((member) => fields[member]?.includes('\0'))
    .map((member) => `${member} must have no NUL character`);
  if (faults.length > 0) throw new InputError(faults);
}

function refuseUnrotated({ id, revokedMs, expiresMs, successor }: KeyRecord, nowMs: number): void {
  if (revokedMs !== undefined || (expiresMs ?? Number.POSITIVE_INFINITY) <= nowMs)
    throw new InputError([
      `the key ${id} has ${revokedMs === undefined ? 'expired' : 'been revoked'}; make a new one`,
    ]);
  // Its expiry is the end of the overlap by now: another successor would end with it.
  if (successor !== undefined)
    throw new InputError([
      `the key ${id} has been rotated to ${successor} already; rotate that one, or make a new one`,
    ]);
}
