import type { Refusal } from '../errors.ts';
import type { AuditAction } from './audit-entry.ts';
import type { ControlStore } from './control-store.ts';

export type Tally = ReturnType<typeof createTally>;

interface Count {
  readonly action: AuditAction;
  readonly keyId: string;
  readonly detail: string;
  readonly atMs: number;
  count: number;
}

// Beyond it refusals are counted without their keys.
const COUNTS_MAX = 1_000;
// About 30 ms of writing; further keys are written a minute later, oldest first.
const USED_PER_FLUSH_MAX = 1_000;

/**
 * Counts uses and refusals of keys in memory, to be written once a minute: counting costs a request next to nothing, and ten
 * thousand wrong keys a second become one row.
 */
export function createTally(store: ControlStore) {
  const lastUsed = new Map<string, number>();
  let counts = new Map<string, Count>();
  let flushing: Promise<void> | undefined;

  async function write(): Promise<void> {
    const used = [...lastUsed].slice(0, USED_PER_FLUSH_MAX);
    const taken = counts;
    if (used.length === 0 && taken.size === 0) return;
    counts = new Map();
    try {
      await store.record({ used, entries: [...taken.values()].map((one) => ({ ...one, actor: '' })) });
    } catch (error) {
      const since = counts;
      counts = taken;
      for (const { count: times, ...one } of since.values()) count(one, times);
      throw error;
    }
    for (const [id, atMs] of used) if (lastUsed.get(id) === atMs) lastUsed.delete(id); // else it was used meanwhile
  }

  function count(fields: Omit<Count, 'count'>, times = 1): void {
    const { action, detail, keyId } = fields;
    const nameOf = (id: string) => `${action}\0${detail}\0${id}`;
    const known = counts.get(nameOf(keyId));
    const named = known !== undefined || counts.size < COUNTS_MAX ? keyId : '';
    const same = known ?? counts.get(nameOf(named));
    if (same === undefined) counts.set(nameOf(named), { ...fields, keyId: named, count: times });
    else same.count += times;
  }

  return {
    /** Key id → its last use, ms since the epoch; bounded by the number of keys in use. */
    lastUsed,
    /** @param keyId of an existing key; empty otherwise, since anyone can invent ids */
    refused: (keyId: string, reason: Refusal, atMs: number) =>
      count({ action: 'refused', keyId, detail: reason, atMs }),
    /** A signed token was minted with this key. */
    minted: (keyId: string, atMs: number) => count({ action: 'minted', keyId, detail: '', atMs }),
    /** Writes all counts. @throws if the store cannot be written; the counts are then kept */
    flush(): Promise<void> {
      flushing ??= write().finally(() => {
        flushing = undefined;
      });
      return flushing;
    },
  };
}
