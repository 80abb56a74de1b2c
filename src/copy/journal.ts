import { hash } from 'node:crypto';
import { join } from 'node:path';
import { openSqlite } from '../lib/open-sqlite.ts';
import type { SortPosition } from './chunk.ts';
import type { Digest } from './digest.ts';

/** The state of a day whose copy has begun. */
export interface DayEntry {
  /** Whether all of it was verified at the target. */
  readonly verified: boolean;
  /** Unique to this attempt: an earlier one had other chunks. */
  readonly generation: string;
  /** The rows of the source when the copy began. */
  readonly here: Digest;
  /** The rows of the target at that time. */
  readonly before: Digest;
  /** Bound of its chunks, the same for all of them however often the copy is interrupted. */
  readonly chunkRowsMax: number;
  /** Chunks that the target has acknowledged, and the end of the last one. */
  readonly chunks: number;
  readonly end: SortPosition | undefined;
}

export type Journal = ReturnType<typeof openJournal>;

// Sums are strings: they have 64 bits, and integers of SQLite are signed.
const TABLE = `CREATE TABLE IF NOT EXISTS days (
  source_table TEXT NOT NULL, day TEXT NOT NULL, verified INTEGER NOT NULL, generation TEXT NOT NULL,
  rows INTEGER NOT NULL, sum TEXT NOT NULL, before_rows INTEGER NOT NULL, before_sum TEXT NOT NULL,
  chunk_rows_max INTEGER NOT NULL, chunks INTEGER NOT NULL, end TEXT, PRIMARY KEY (source_table, day)
) STRICT`;

/**
 * The progress of each day for one target, kept in the data directory.
 *
 * @param target names the database at the server, without any password
 */
export function openJournal(dataDir: string, target: string) {
  const file = join(dataDir, `copy-${hash('sha256', target).slice(0, 16)}.sqlite`);
  const database = openSqlite(file, 'the journal of the copy', (opened) => opened.exec(TABLE));
  const find = database.prepare('SELECT * FROM days WHERE source_table = ? AND day = ?');
  const begin = database.prepare('INSERT OR REPLACE INTO days VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, 0, NULL)');
  const advance = database.prepare('UPDATE days SET chunks = ?, end = ? WHERE source_table = ? AND day = ?');
  const verify = database.prepare('UPDATE days SET verified = 1 WHERE source_table = ? AND day = ?');
  return {
    find(table: string, day: string): DayEntry | undefined {
      const row = find.get(table, day);
      if (row === undefined) return undefined;
      return {
        verified: row['verified'] === 1,
        generation: String(row['generation']),
        here: { rows: Number(row['rows']), sum: BigInt(String(row['sum'])) },
        before: { rows: Number(row['before_rows']), sum: BigInt(String(row['before_sum'])) },
        chunkRowsMax: Number(row['chunk_rows_max']),
        chunks: Number(row['chunks']),
        end: row['end'] === null ? undefined : (JSON.parse(String(row['end'])) as SortPosition), // only `advance` writes it
      };
    },
    /** Begins a day, or begins it again. */
    begin(table: string, day: string, entry: Omit<DayEntry, 'verified' | 'chunks' | 'end'>): void {
      const { generation, here, before, chunkRowsMax } = entry;
      const digests = [here.rows, String(here.sum), before.rows, String(before.sum)];
      begin.run(table, day, generation, ...digests, chunkRowsMax);
    },
    advance: (table: string, day: string, chunks: number, end: SortPosition) =>
      void advance.run(chunks, JSON.stringify(end), table, day),
    verify: (table: string, day: string) => void verify.run(table, day),
    close: () => database.close(),
  };
}
