import { InputError } from '../errors.ts';
import type { AuditAction } from './audit-action.ts';
import type { Change, ControlStore } from './control-store.ts';
import { createSecret, describeGrant, findFault, type Grant, type KeyRecord } from './grant.ts';

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
  function entry(action: AuditAction, keyId: string, { actor, address }: Actor, detail = '') {
    return { atMs: now(), action, keyId, actor, address, detail, count: 1 };
  }

  /** Returns a new key with its text, which is not stored. */
  function make(fields: Grant & Pick<KeyRecord, 'name' | 'description'>) {
    const { key, id, hash } = createSecret();
    const unused = { revokedMs: undefined, lastUsedMs: undefined, successor: undefined };
    const record: KeyRecord = { ...fields, ...unused, id, hash, createdMs: now() };
    return { id, key, record };
  }

  /** @returns the change's result; `undefined` if there is no key of this id */
  function changeExisting<T>(id: string, by: Actor, decide: (old: KeyRecord) => Change<T>) {
    return store.change<T | undefined>([id], (find) => {
      const old = find(id);
      if (old === undefined) return { result: undefined };
      by.check?.(old);
      return decide(old);
    });
  }

  return {
    create: ({ description = '', pins = {}, ...fields }: NewKey, by: Actor = CLI) =>
      store.change([], () => {
        const created = make({ ...fields, description, pins });
        const { id, record } = created;
        return { add: [record], entries: [entry('created', id, by, describeGrant(record))], result: created };
      }),
    /** Changes a key, from the next request on. @throws InputError if it has been revoked */
    update: (id: string, change: KeyChange, by: Actor = CLI) =>
      changeExisting(id, by, (old) => {
        if (old.revokedMs !== undefined) throw new InputError([`the key ${id} has been revoked`]);
        const changed = { ...old, ...change };
        return {
          update: changed,
          entries: [entry('changed', id, by, describeGrant(changed))],
          result: changed,
        };
      }),
    /**
     * Creates a successor with the same rights. The old key stays valid for `overlapMs`, unless it expires before.
     * @throws InputError if it has been revoked, has expired, or has a successor
     */
    rotate: (id: string, overlapMs: number, by: Actor = CLI) =>
      changeExisting(id, by, (old) => {
        rejectUnrotatable(old, now());
        const created = make(old);
        const ends = Math.min(old.expiresMs ?? Number.POSITIVE_INFINITY, now() + overlapMs);
        return {
          add: [created.record],
          update: { ...old, expiresMs: ends, successor: created.id },
          entries: [entry('rotated', id, by, `successor ${created.id}`)],
          result: created,
        };
      }),
    /** @returns whether there was a key of this id that was not revoked yet */
    async revoke(id: string, by: Actor = CLI): Promise<boolean> {
      const isRevoked = await changeExisting(id, by, (old) => {
        if (old.revokedMs !== undefined) return { result: false };
        return { update: { ...old, revokedMs: now() }, entries: [entry('revoked', id, by)], result: true };
      });
      return isRevoked ?? false;
    },
  };
}

function rejectUnrotatable(key: KeyRecord, nowMs: number): void {
  const { id, successor } = key;
  const fault = findFault(key, nowMs);
  const ended = fault === 'expired' ? 'has expired' : 'has been revoked';
  if (fault !== undefined) throw new InputError([`the key ${id} ${ended}; create a new one`]);
  // Its expiry is now the end of the overlap, which another successor would inherit.
  if (successor === undefined) return;
  const rest = 'rotate that one, or create a new one';
  throw new InputError([`the key ${id} has been rotated to ${successor} already; ${rest}`]);
}
