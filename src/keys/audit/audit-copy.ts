import type { Row, Statement } from '../statement.ts';
import { type StoredEntry, toEntry } from './audit-entry.ts';

/** Entries of the audit trail that are being copied. */
export interface AuditBatch {
  /** The last entry of the batch before; 0 for the first one. */
  readonly after: number;
  /** The last entry of this batch. */
  readonly until: number;
  /** Oldest first. Those that were trimmed meanwhile are missing. */
  readonly entries: readonly StoredEntry[];
}

/** How far the trail has been copied. */
export interface AuditCopy {
  /**
   * Returns the next batch; `undefined` if all entries have been copied. Until `done` every process gets the same one, so that all of
   * them name it alike.
   */
  next(): Promise<AuditBatch | undefined>;
  /** Notes that a batch has been copied, unless another process has. */
  done(batch: Pick<AuditBatch, 'after' | 'until'>): Promise<void>;
}

// Some 300 KB of entries at most.
const BATCH_ENTRIES_MAX = 1_000;

const BEGIN = `UPDATE tailrace_audit_copy SET claimed = (
    SELECT coalesce(max(id), copied) FROM (SELECT id FROM tailrace_audit WHERE id > copied ORDER BY id LIMIT $1) AS next
  ) WHERE claimed = copied`;

export interface AuditCopyOptions {
  /** Runs a statement; tables are named as in PostgreSQL. */
  readonly run: (statement: Statement) => Promise<readonly Row[]>;
  /** Runs it while no other process adds entries: one with a lower id could otherwise be committed behind the batch. */
  readonly runAlone: (statement: Statement) => Promise<unknown>;
}

export function createAuditCopy({ run, runAlone }: AuditCopyOptions): AuditCopy {
  const readMark = async () => {
    const [row] = await run({ text: 'SELECT copied, claimed FROM tailrace_audit_copy', values: [] });
    return { after: Number(row?.['copied'] ?? 0), until: Number(row?.['claimed'] ?? 0) };
  };
  const hasMore = async (after: number) => {
    const text = 'SELECT id FROM tailrace_audit WHERE id > $1 LIMIT 1';
    return (await run({ text, values: [after] })).length > 0;
  };

  async function findBatch() {
    const mark = await readMark();
    if (mark.until > mark.after) return mark;
    if (!(await hasMore(mark.after))) return undefined;
    await runAlone({ text: BEGIN, values: [BATCH_ENTRIES_MAX] });
    const begun = await readMark();
    return begun.until > begun.after ? begun : undefined; // another process may have copied it meanwhile
  }

  return {
    async next() {
      const batch = await findBatch();
      if (batch === undefined) return undefined;
      const text = 'SELECT * FROM tailrace_audit WHERE id > $1 AND id <= $2 ORDER BY id';
      const rows = await run({ text, values: [batch.after, batch.until] });
      return { ...batch, entries: rows.map(toEntry) };
    },
    async done({ after, until }) {
      const text = 'UPDATE tailrace_audit_copy SET copied = $2 WHERE copied = $1 AND claimed = $2';
      await run({ text, values: [after, until] });
    },
  };
}
