import { InputError } from '../errors.ts';
import type { AuditAction } from './audit-action.ts';
import type { Change, ControlStore } from './control-store.ts';
import { createSecret, describeGrant, type Grant, type KeyRecord } from './grant.ts';

/** A new key. Rights other than its scopes are unlimited unless given. */
export interface NewKey extends Pick<Grant, 'scopes' | 'endpoints' | 'sources' | 'rate' | 'expiresMs'> {
  readonly name: string;
  readonly description?: string;
  readonly pins?: Grant['pins'];
}

/** A change of a key; a member with the value `undefined` removes that limit. */
export type KeyChange = Partial<NewKey>;

/** The originator of a change. */
export interface Actor {
  /** For the audit trail: a person, a key's id, or `cli`. */
  readonly actor: string;
  readonly address?: string;
  /** Checks the present key within the transaction. @throws to reject the change */
  readonly check?: (key: KeyRecord) => void;
}

const CLI: Actor = { actor: 'cli' };

/** Creates, changes and revokes keys. Each change and its entry in the audit trail are one transaction. */
export function createManagement(store: ControlStore, now: () => number) {
  function entry(action: AuditAction, keyId: string, by: Omit<Actor, 'check'> & { detail: string }) {
    return { atMs: now(), action, keyId, count: 1, ...by };
  }

  /** Returns a new key with its text, which is not stored. */
  function make(fields: Grant & Pick<KeyRecord, 'name' | 'description'>) {
    const { key, id, hash } = createSecret();
    const unused = { revokedMs: undefined, lastUsedMs: undefined, successor: undefined };
    const record: KeyRecord = { ...fields, ...unused, id, hash, createdMs: now() };
    return { id, key, record };
  }

  /** @returns `undefined` if there is no key of this id */
  function changeExisting<T>(id: string, check: Actor['check'], decide: (old: KeyRecord) => Change<T>) {
    return store.change<T | undefined>([id], (find) => {
      const old = find(id);
      if (old === undefined) return { result: undefined };
      check?.(old);
      return decide(old);
    });
  }

  return {
    create: ({ description = '', pins = {}, ...fields }: NewKey, { check: _, ...by }: Actor = CLI) =>
      store.change([], () => {
        const created = make({ ...fields, description, pins });
        const detail = describeGrant({ ...fields, pins });
        return {
          add: [created.record],
          entries: [entry('created', created.id, { ...by, detail })],
          result: created,
        };
      }),
    /**
     * Changes a key, from the next request on.
     *
     * @returns the changed key; `undefined` if there is none of this id
     * @throws InputError if it has been revoked
     */
    update: (id: string, change: KeyChange, { check, ...by }: Actor = CLI) =>
      changeExisting(id, check, (old) => {
        if (old.revokedMs !== undefined) throw new InputError([`the key ${id} has been revoked`]);
        const changed = { ...old, ...change };
        const detail = describeGrant(changed);
        return { update: changed, entries: [entry('changed', id, { ...by, detail })], result: changed };
      }),
    /**
     * Creates a successor with the same rights. The old key stays valid for `overlapMs`, unless it expires before.
     *
     * @returns `undefined` if there is no key of this id
     * @throws InputError if it has been revoked, has expired, or has a successor
     */
    rotate: (id: string, overlapMs: number, { check, ...by }: Actor = CLI) =>
      changeExisting(id, check, (old) => {
        rejectUnrotatable(old, now());
        const created = make(old);
        const ends = Math.min(old.expiresMs ?? Number.POSITIVE_INFINITY, now() + overlapMs);
        return {
          add: [created.record],
          update: { ...old, expiresMs: ends, successor: created.id },
          entries: [entry('rotated', id, { ...by, detail: `successor ${created.id}` })],
          result: created,
        };
      }),
    /** @returns whether there was a key of this id that was not revoked yet */
    async revoke(id: string, { check, ...by }: Actor = CLI): Promise<boolean> {
      const isRevoked = await changeExisting(id, check, (old) => {
        if (old.revokedMs !== undefined) return { result: false };
        const entries = [entry('revoked', id, { ...by, detail: '' })];
        return { update: { ...old, revokedMs: now() }, entries, result: true };
      });
      return isRevoked ?? false;
    },
  };
}

function rejectUnrotatable({ id, revokedMs, expiresMs, successor }: KeyRecord, nowMs: number): void {
  if (revokedMs !== undefined || (expiresMs ?? Number.POSITIVE_INFINITY) <= nowMs)
    throw new InputError([
      `the key ${id} has ${revokedMs === undefined ? 'expired' : 'been revoked'}; create a new one`,
    ]);
  // Its expiry is now the end of the overlap, which another successor would inherit.
  if (successor !== undefined)
    throw new InputError([
      `the key ${id} has been rotated to ${successor} already; rotate that one, or create a new one`,
    ]);
}
