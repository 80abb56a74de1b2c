import type { AuditEntry, StoredEntry } from './audit-entry.ts';
import type { ControlStore } from './control-store.ts';
import type { KeyRecord } from './key-record.ts';
import { sameHash } from './secret.ts';

/** What came of a copy. */
export interface Copied {
  readonly keysAdded: number;
  /** There already, with the same id and hash; whatever else is said of them there stays. */
  readonly keysLeft: number;
  /** Ids that another key has there. */
  readonly keysDiffering: readonly string[];
  readonly entriesAdded: number;
  readonly entriesLeft: number;
}

// In one step: some 200 KB, which others wait for no longer than for any change.
const BATCH = 500;

/** Copies keys, as hashes, and the audit trail into another control store. What is there stays, so it can be done again. */
export async function copyControlStore(from: ControlStore, to: ControlStore): Promise<Copied> {
  const keys = { added: 0, left: 0, differing: [] as string[] };
  for (const batch of batchesOf((await from.listKeys()).toReversed())) {
    const { added, differing } = await addKeys(to, batch);
    keys.added += added;
    keys.differing.push(...differing);
    keys.left += batch.length - added - differing.length;
  }
  const entries = await listAll(from);
  const missing = subtract(entries, await listAll(to));
  for (const batch of batchesOf(missing)) await to.note({ used: [], entries: batch });
  return {
    keysAdded: keys.added,
    keysLeft: keys.left,
    keysDiffering: keys.differing,
    entriesAdded: missing.length,
    entriesLeft: entries.length - missing.length,
  };
}

async function addKeys(
  to: ControlStore,
  records: readonly KeyRecord[],
): Promise<{ added: number; differing: string[] }> {
  return await to.change(
    records.map(({ id }) => id),
    (find) => {
      const add = records.filter(({ id }) => find(id) === undefined);
      const differing = records.filter(({ id, hash }) => {
        const there = find(id);
        return there !== undefined && !sameHash(there.hash, hash);
      });
      return { add, result: { added: add.length, differing: differing.map(({ id }) => id) } };
    },
  );
}

/** The whole trail, oldest first. */
async function listAll(store: ControlStore): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (let page = await store.listEntries({ limit: BATCH }); page.length > 0; ) {
    entries.push(...page);
    page = await store.listEntries({ limit: BATCH, before: page.at(-1)?.id });
  }
  return entries.toReversed();
}

/** Those of `entries` that are not in `others`, each as often as it is in one more than in the other: ids say nothing here. */
function subtract(entries: readonly AuditEntry[], others: readonly AuditEntry[]): AuditEntry[] {
  const nameOf = ({ atMs, action, keyId, actor, detail, count }: AuditEntry) =>
    JSON.stringify([atMs, action, keyId, actor, detail, count]);
  const left = new Map<string, number>();
  for (const entry of others) left.set(nameOf(entry), (left.get(nameOf(entry)) ?? 0) + 1);
  return entries.filter((entry) => {
    const times = left.get(nameOf(entry)) ?? 0;
    left.set(nameOf(entry), times - 1);
    return times <= 0;
  });
}

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH);
}
