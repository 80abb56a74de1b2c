import type { DatabaseSync, StatementSync } from 'node:sqlite';

export const AUDIT_ACTIONS = ['created', 'changed', 'rotated', 'revoked', 'minted', 'refused'] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What happened to a key, or was refused to it. */
export interface AuditEntry {
  /** ms since the epoch; of refusals that are counted together, the first. */
  readonly atMs: number;
  readonly action: AuditAction;
  /** The key that it is about; empty where it is not known. */
  readonly keyId: string;
  /** Who did it: a key's id, or `cli`; empty for refusals, which the key itself brought about. */
  readonly actor: string;
  /** What was granted, or why it was refused. Never a secret. */
  readonly detail: string;
  /** How often, within a minute: 1 but for refusals. */
  readonly count: number;
}

export interface StoredEntry extends AuditEntry {
  /** Rises with every entry. */
  readonly id: number;
}

export interface AuditStore {
  add(entry: AuditEntry): void;
  /** Newest first; `before` is the id of the last one seen. */
  list(page: { readonly limit: number; readonly before?: number | undefined }): StoredEntry[];
}

// A bound for each kind, so that no flood of wrong keys pushes out who made which key.
const ENTRIES_MAX = 50_000;
const DETAIL_CHARS_MAX = 1_000;

/** The audit trail in the control store's database: the newest 50,000 changes and the newest 50,000 counts of refusals. */
export function createAuditStore(database: DatabaseSync): AuditStore {
  const add = database.prepare(
    'INSERT INTO audit (at_ms, action, key_id, actor, detail, count) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const trim = database.prepare(
    `DELETE FROM audit WHERE (action = 'refused') = ? AND id <=
      (SELECT id FROM audit WHERE (action = 'refused') = ? ORDER BY id DESC LIMIT 1 OFFSET ${ENTRIES_MAX})`,
  );
  const list = database.prepare('SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?');
  // Looking for what is too old walks over everything that is not, so once in a hundred is enough.
  const trimEvery = 100;
  return {
    add({ atMs, action, keyId, actor, detail, count }) {
      const { lastInsertRowid } = add.run(
        atMs,
        action,
        keyId,
        actor,
        detail.slice(0, DETAIL_CHARS_MAX),
        count,
      );
      if (Number(lastInsertRowid) % trimEvery !== 0) return;
      for (const refused of [0, 1]) trim.run(refused, refused);
    },
    list: ({ limit, before = Number.MAX_SAFE_INTEGER }) => list.all(before, limit).map(toEntry),
  };
}

function toEntry(row: NonNullable<ReturnType<StatementSync['get']>>): StoredEntry {
  const action = AUDIT_ACTIONS.find((one) => one === row['action']);
  if (action === undefined) throw new Error(`the audit trail has an unknown action ${String(row['action'])}`);
  return {
    id: Number(row['id']),
    atMs: Number(row['at_ms']),
    action,
    keyId: String(row['key_id']),
    actor: String(row['actor']),
    detail: String(row['detail']),
    count: Number(row['count']),
  };
}
