import type { Refusal } from '../errors.ts';
import type { AuditAction } from './audit-store.ts';
import type { ControlStore } from './control-store.ts';

/**
 * Remembers which keys were used and what was refused, to be written once a minute: counting costs a request next to
 * nothing, and ten thousand wrong keys a second cost the disk a row.
 */
export interface Tally {
  used(keyId: string, nowMs: number): void;
  /** @param keyId of a key that exists; empty for any other, whose text anyone can make up */
  refused(keyId: string, reason: Refusal, nowMs: number): void;
  /** A signed token was made with this key. */
  minted(keyId: string, nowMs: number): void;
  /** Writes what has come together. @throws when the store cannot be written; what was to be written is kept */
  flush(): void;
}

interface Count {
  readonly action: AuditAction;
  readonly keyId: string;
  readonly detail: string;
  readonly atMs: number;
  count: number;
}

// Refusals of more keys than this in a minute are counted without their keys.
const COUNTS_MAX = 1_000;
// About 30 ms of writing; the keys beyond it are written a minute later, those that have waited longest first.
const USED_PER_FLUSH_MAX = 1_000;

export function createTally(store: ControlStore): Tally {
  const lastUsed = new Map<string, number>(); // as large as there are keys in use, at most
  const counts = new Map<string, Count>();

  function writeUsed(): void {
    const taken = [...lastUsed].slice(0, USED_PER_FLUSH_MAX);
    store.transaction(() => {
      for (const [id, atMs] of taken) store.setLastUsed(id, atMs);
    });
    for (const [id] of taken) lastUsed.delete(id);
  }

  function writeCounts(): void {
    store.transaction(() => {
      for (const { action, keyId, detail, atMs, count } of counts.values()) {
        store.audit.add({ atMs, action, keyId, actor: '', detail, count });
      }
    });
    counts.clear();
  }

  function count(fields: Omit<Count, 'count'>): void {
    const { action, detail, keyId } = fields;
    const nameOf = (id: string) => `${action}\0${detail}\0${id}`;
    const known = counts.get(nameOf(keyId));
    const named = known !== undefined || counts.size < COUNTS_MAX ? keyId : '';
    const same = known ?? counts.get(nameOf(named));
    if (same === undefined) counts.set(nameOf(named), { ...fields, keyId: named, count: 1 });
    else same.count++;
  }

  return {
    used: (keyId, nowMs) => void lastUsed.set(keyId, nowMs),
    refused: (keyId, reason, atMs) => count({ action: 'refused', keyId, detail: reason, atMs }),
    minted: (keyId, atMs) => count({ action: 'minted', keyId, detail: '', atMs }),
    flush() {
      if (lastUsed.size > 0) writeUsed();
      if (counts.size > 0) writeCounts();
    },
  };
}
