export const AUDIT_ACTIONS = [
  'created',
  'changed',
  'rotated',
  'revoked',
  'minted',
  'refused',
  'deleted',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What happened to a key or was refused to it, or which events were deleted. */
export interface AuditEntry {
  /** ms since the epoch; of refusals that are counted together, the first. */
  readonly atMs: number;
  readonly action: AuditAction;
  /** The key that it is about; empty if it is not known, or if it is about events. */
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

/** Newest first. */
export interface AuditPage {
  readonly limit: number;
  /** Id of the last entry seen. */
  readonly before?: number | undefined;
}

/** An entry as a row of the control store. */
export interface AuditRow {
  readonly at_ms: number;
  readonly action: string;
  readonly key_id: string;
  readonly actor: string;
  readonly detail: string;
  readonly count: number;
}

/** Entries kept of each kind, changes and refusals, so that no flood of wrong keys pushes out who made which key. */
export const ENTRIES_MAX = 50_000;
/** Looking for what is too old walks over everything that is not, so once in so many ids is enough. */
export const TRIM_EVERY = 100;

const DETAIL_CHARS_MAX = 1_000;

export function toAuditRow({ atMs, action, keyId, actor, detail, count }: AuditEntry): AuditRow {
  // PostgreSQL's text has no NUL, and an entry that cannot be written would be tried again for ever.
  const written = detail.slice(0, DETAIL_CHARS_MAX).replaceAll('\0', '\ufffd').toWellFormed();
  return { at_ms: atMs, action, key_id: keyId, actor, detail: written, count };
}

export function toEntry(row: Readonly<Record<string, unknown>>): StoredEntry {
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
