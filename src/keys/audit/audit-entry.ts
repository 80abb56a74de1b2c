export const AUDIT_ACTIONS = [
  'created',
  'changed',
  'rotated',
  'revoked',
  'minted',
  'refused',
  'deleted',
  'saved',
  'silenced',
  'unsilenced',
  'signed_in',
  'signed_out',
  'ended',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** A change or a rejection of a key, a deletion of events, an endpoint that was saved, a silence of an alert that began or was ended, or a session. */
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

/** Newest first. */
export interface AuditPage {
  readonly limit: number;
  /** Id of the last entry seen. */
  readonly before?: number | undefined;
}

/** Entries kept of each kind, changes and rejections, so that a flood of wrong keys evicts no changes. */
export const ENTRIES_MAX = 50_000;
/** Trimming walks over all entries that stay, so it runs once in so many ids. */
export const TRIM_EVERY = 100;

const DETAIL_CHARS_MAX = 1_000;

/** Converts the entry to a row of the control store. */
export function toAuditRow({ atMs, action, keyId, actor, detail, count, address = '' }: AuditEntry) {
  // PostgreSQL's text has no NUL, and an entry that cannot be written would be retried forever.
  const written = (text: string) => text.slice(0, DETAIL_CHARS_MAX).replaceAll('\0', '\ufffd').toWellFormed();
  const who = { actor: written(actor), address: written(address) };
  return { at_ms: atMs, action, key_id: keyId, ...who, detail: written(detail), count };
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
    address: String(row['address']),
    detail: String(row['detail']),
    count: Number(row['count']),
  };
}
