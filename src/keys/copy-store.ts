import type { AuditEntry, StoredEntry } from './audit.ts';
import type { ControlStore } from './control-store.ts';
import { type KeyRecord, sameHash } from './grant.ts';

// Keys in one transaction: some 200 KB, which blocks others no longer than any change.
const BATCH = 500;

/**
 * Copies keys, as hashes, the audit trail and what is stored of alerts into another control store. Idempotent.
 * @returns what was added, and the ids that belong to another key in the target
 */
export async function copyControlStore(from: ControlStore, to: ControlStore) {
  const added: KeyRecord[] = [];
  const differing: KeyRecord[] = [];
  for (const batch of batchesOf((await from.listKeys()).toReversed())) {
    const result = await to.change(
      batch.map(({ id }) => id),
      (find) => {
        const add = batch.filter(({ id }) => find(id) === undefined);
        const others = batch.filter(({ id, hash }) => !sameHash(find(id)?.hash ?? hash, hash));
        return { add, result: { add, others } };
      },
    );
    added.push(...result.add);
    differing.push(...result.others);
  }
  const missing = subtract(await listAll(from), await listAll(to));
  for (const batch of batchesOf(missing)) await to.record(batch);
  return {
    keysAdded: added.length,
    keysDiffering: differing.map(({ id }) => id),
    entriesAdded: missing.length,
    alertRowsAdded: await to.alerts.copyFrom(from.alerts),
  };
}

/** Reads the whole trail, oldest first. */
async function listAll(store: ControlStore): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (let page = await store.listEntries({ limit: BATCH }); page.length > 0; ) {
    entries.push(...page);
    page = await store.listEntries({ limit: BATCH, before: page.at(-1)?.id });
  }
  return entries.toReversed();
}

/** Returns the multiset difference `entries` minus `others`, without comparing ids: each store has its own. */
function subtract(entries: readonly AuditEntry[], others: readonly AuditEntry[]): AuditEntry[] {
  const nameOf = ({ atMs, action, keyId, actor, detail, count }: AuditEntry) =>
    JSON.stringify([atMs, action, keyId, actor, detail, count]);
  const left = Map.groupBy(others, nameOf);
  return entries.filter((entry) => left.get(nameOf(entry))?.pop() === undefined);
}

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH);
}
