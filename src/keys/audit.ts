import { AUDIT_ACTIONS, type AuditAction } from './audit-action.ts';
import {
  type ControlDatabase,
  createExecute,
  type Execute,
  insert,
  LOCK_CHANGES,
  type Statement,
} from './database.ts';

/** A change or a rejection of a key, a deletion of events, a saved endpoint, a silence of an alert, or a session. */
export interface AuditEntry {
  /** ms since the epoch; of rejections that are counted together, that of the first. */
  readonly atMs: number;
  readonly action: AuditAction;
  /** The key concerned; empty if it is unknown, for events, endpoints and alerts. */
  readonly keyId: string;
  /** The acting person, the id of the acting key, or `cli`; empty for rejections. */
  readonly actor: string;
  /** Address of the actor's client; left out if it is not known. */
  readonly address?: string | undefined;
  /** The grant, or the reason of a rejection. Never a secret. */
  readonly detail: string;
  /** How often within a minute; 1 except for rejections. */
  readonly count: number;
}

export interface StoredEntry extends AuditEntry {
  /** Ascending. */
  readonly id: number;
}

const ENTRY = 'id, at_ms AS "atMs", action, key_id AS "keyId", actor, address, detail, count';

/** Reads entries of the trail. @param rest of the SELECT @throws Error for an action that this version does not know */
export async function readEntries(
  execute: Execute,
  rest: string,
  ...values: Statement['values']
): Promise<StoredEntry[]> {
  const entries = await execute<StoredEntry>(`SELECT ${ENTRY} FROM tailrace_audit ${rest}`, ...values);
  const unknown = entries.find(({ action }) => !AUDIT_ACTIONS.includes(action));
  if (unknown !== undefined) throw new Error(`the audit trail has an unknown action ${unknown.action}`);
  return entries;
}

/** Entries kept of each kind, changes and rejections, so that a flood of wrong keys evicts no changes. */
const ENTRIES_MAX = 50_000;
// Trimming walks over all entries that stay, so it runs once in so many entries.
const TRIM_EVERY = 100;
const INSERTED_MAX = 100; // in one statement
const DETAIL_CHARS_MAX = 1_000;

/** Returns a function that makes the statements which add entries, and now and then trim each kind to its bound. */
export function createAuditWriter(): (entries: readonly AuditEntry[]) => Statement[] {
  let untilTrim = 1; // commands write few entries, each in a new process
  return (entries) => {
    const statements: Statement[] = [];
    for (let at = 0; at < entries.length; at += INSERTED_MAX)
      statements.push(insert('tailrace_audit', entries.slice(at, at + INSERTED_MAX).map(toRow)));
    untilTrim -= entries.length;
    if (untilTrim > 0 || entries.length === 0) return statements;
    untilTrim = TRIM_EVERY;
    return [...statements, ...TRIMS];
  };
}

const TRIMS: readonly Statement[] = ["action = 'refused'", "action <> 'refused'"].map((kind) => ({
  text: `DELETE FROM tailrace_audit WHERE ${kind} AND id <=
    (SELECT id FROM tailrace_audit WHERE ${kind} ORDER BY id DESC LIMIT 1 OFFSET ${ENTRIES_MAX})`,
  values: [],
}));

function toRow({ atMs, action, keyId, actor, detail, count, address = '' }: AuditEntry) {
  const cut = (text: string) => text.slice(0, DETAIL_CHARS_MAX);
  const texts = { actor: cut(actor), detail: cut(detail), address: cut(address) };
  return { at_ms: atMs, action, key_id: keyId, count, ...texts };
}

/** Entries of the audit trail that are being copied. */
export interface AuditBatch {
  /** The last entry of the batch before; 0 for the first one. */
  readonly after: number;
  /** The last entry of this batch. */
  readonly until: number;
  /** Oldest first. Those that were trimmed meanwhile are missing. */
  readonly entries: readonly StoredEntry[];
}

// Some 300 KB of entries at most.
const BATCH_ENTRIES_MAX = 1_000;

const CLAIM: Statement = {
  text: `UPDATE tailrace_audit_copy SET claimed = (
      SELECT coalesce(max(id), copied)
      FROM (SELECT id FROM tailrace_audit WHERE id > copied ORDER BY id LIMIT $1) AS next
    ) WHERE claimed = copied`,
  values: [BATCH_ENTRIES_MAX],
};

/** How far the trail has been copied. */
export function createAuditCopy(database: ControlDatabase) {
  const execute = createExecute(database);
  const text =
    'SELECT copied, claimed, (SELECT max(id) FROM tailrace_audit) AS last FROM tailrace_audit_copy';
  const readMark = async () => {
    const [row] = await execute<{ copied: number; claimed: number; last: number | null }>(text);
    return { after: row?.copied ?? 0, until: row?.claimed ?? 0, last: row?.last ?? 0 };
  };

  async function findBatch() {
    const mark = await readMark();
    if (mark.until > mark.after || mark.last <= mark.after) return mark;
    // Entries are added under the same lock: one with a lower id could otherwise be committed behind the batch.
    await database.transact([LOCK_CHANGES], () => ({ statements: [CLAIM], result: undefined }));
    return await readMark();
  }

  return {
    /** Returns the next batch; `undefined` after the last. Until `done` every process gets the same one, named alike. */
    async next(): Promise<AuditBatch | undefined> {
      const { after, until } = await findBatch();
      if (until <= after) return undefined; // another process may have copied it meanwhile
      const rest = 'WHERE id > $1 AND id <= $2 ORDER BY id';
      return { after, until, entries: await readEntries(execute, rest, after, until) };
    },
    /** Notes that a batch has been copied, unless another process has. */
    async done({ after, until }: Pick<AuditBatch, 'after' | 'until'>): Promise<void> {
      const text = 'UPDATE tailrace_audit_copy SET copied = $2 WHERE copied = $1 AND claimed = $2';
      await execute(text, after, until);
    },
  };
}

export interface Acting {
  readonly keyId: string;
  readonly person?: { readonly name: string } | undefined;
  readonly address?: string | undefined;
}

/** Names the caller in the audit trail. A person's name may be that of another one, or change, so their id follows. */
export function actorOf({ keyId, person, address }: Acting) {
  return { actor: person === undefined ? keyId : `${person.name} (${keyId})`, address: address ?? '' };
}
