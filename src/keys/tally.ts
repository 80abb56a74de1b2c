import type { Refusal } from '../errors.ts';
import type { AuditAction, AuditEntry } from './audit.ts';
import type { ControlStore } from './control-store.ts';

export type Tally = ReturnType<typeof createTally>;

interface Count {
  readonly action: AuditAction;
  readonly keyId: string;
  readonly detail: string;
  readonly atMs: number;
  /** Addresses of the clients: at most one more than are written. */
  readonly addresses: Set<string>;
  count: number;
}

/** The time of a rejected request, and the address of its client. */
interface RefusedAt {
  readonly atMs: number;
  /** Empty if it is not known. */
  readonly address: string;
}

// Beyond it rejections are counted without their keys.
const COUNTS_MAX = 1_000;
// Addresses of each count: many clients with wrong keys stay one row.
const ADDRESSES_MAX = 3;
// About 30 ms of writing; further keys are written a minute later, oldest first.
const USED_PER_FLUSH_MAX = 1_000;

/**
 * Counts uses and rejections of keys in memory, to be written once a minute: counting costs a request almost nothing,
 * and ten thousand wrong keys a second become one row.
 */
export function createTally(store: ControlStore) {
  const lastUsed = new Map<string, number>();
  let counts = new Map<string, Count>();

  // Its only caller is a task, which never runs twice at once.
  async function flush(): Promise<void> {
    const used = [...lastUsed].slice(0, USED_PER_FLUSH_MAX);
    const taken = counts;
    if (used.length === 0 && taken.size === 0) return;
    counts = new Map();
    try {
      await store.record({ used, entries: [...taken.values()].map(toEntry) });
    } catch (error) {
      const since = counts;
      counts = taken;
      for (const one of since.values()) count(one, one.count);
      throw error;
    }
    for (const [id, atMs] of used) if (lastUsed.get(id) === atMs) lastUsed.delete(id); // else it was used meanwhile
  }

  function count(fields: Omit<Count, 'count'>, times = 1): void {
    const { action, detail, keyId, addresses } = fields;
    const nameOf = (id: string) => `${action}\0${detail}\0${id}`;
    const known = counts.get(nameOf(keyId));
    const named = known !== undefined || counts.size < COUNTS_MAX ? keyId : '';
    const same = known ?? counts.get(nameOf(named));
    if (same === undefined) {
      counts.set(nameOf(named), { ...fields, keyId: named, count: times });
      return;
    }
    same.count += times;
    for (const address of addresses) if (same.addresses.size <= ADDRESSES_MAX) same.addresses.add(address);
  }

  return {
    /** Key id → its last use, ms since the epoch; bounded by the number of keys in use. */
    lastUsed,
    /** @param keyId of an existing key; empty otherwise, since anyone can invent ids */
    refused: (keyId: string, reason: Refusal, { atMs, address }: RefusedAt) => {
      const addresses = new Set(address === '' ? [] : [address]);
      count({ action: 'refused', keyId, detail: reason, atMs, addresses });
    },
    /** Counts a signed token that was minted with this key. */
    minted: (keyId: string, atMs: number) =>
      count({ action: 'minted', keyId, detail: '', atMs, addresses: new Set() }),
    /** Writes all counts; called for one at a time. @throws if the store cannot be written; the counts are then kept */
    flush,
  };
}

/** `unknown from 192.0.2.1, 192.0.2.7 and others` */
function toEntry({ addresses, detail, ...count }: Count): AuditEntry {
  const [written, others] = [[...addresses].slice(0, ADDRESSES_MAX), addresses.size > ADDRESSES_MAX];
  const from = written.length === 0 ? '' : ` from ${written.join(', ')}${others ? ' and others' : ''}`;
  return { ...count, detail: `${detail}${from}`, actor: '' };
}
