import { setTimeout as wait } from 'node:timers/promises';
import type { Source } from '../definitions/source.ts';
import { type Sql, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { alterTable, storedTable } from './table.ts';

/** The parts of a table that a deletion still has to rewrite. */
export interface Unfinished {
  readonly parts: number;
  /** The engine's last failure; empty if there was none. */
  readonly fault: string;
}

/**
 * Creates a deletion of the rows of a source that meet a condition. When it resolves, the engine has recorded, even
 * across a crash, that the rows stored by then have to be deleted; it rewrites their files in the background. Rows
 * that are stored later stay.
 *
 * @param condition SQL on the columns of the table
 */
export async function createDeletion(engine: Engine, source: Source, condition: Sql): Promise<void> {
  const what = sql`DELETE WHERE ${condition} SETTINGS mutations_sync = 0`;
  await engine.command(alterTable(source, engine.cluster, what));
}

/** Reads the unfinished deletions, by the name of the table that has the rows. */
export async function readUnfinished(
  engine: Pick<Engine, 'inspect' | 'cluster'>,
): Promise<Map<string, Unfinished>> {
  const rows = await engine.inspect(
    sql`SELECT table, sum(parts_to_do) AS parts, max(latest_fail_reason) AS fault
     FROM ${everywhere(engine, sql`system.mutations`)} WHERE ${DELETES} AND NOT is_done GROUP BY table`,
  );
  return new Map(
    rows.map(({ table, parts, fault }) => [String(table), { parts: Number(parts), fault: String(fault) }]),
  );
}

const POLL_EVERY_MS = 250;

/**
 * Waits until no deletion is unfinished, for copies and backups: they have the events that it has not removed yet, and
 * nothing would remove them there. @throws if `signal` aborts
 */
export async function untilDeleted(
  engine: Pick<Engine, 'inspect' | 'cluster'>,
  signal: AbortSignal,
): Promise<void> {
  while ((await readUnfinished(engine)).size > 0) await wait(POLL_EVERY_MS, undefined, { signal });
}

/** Reads a text that differs after every creation and every end of a deletion, by any process. */
export async function readDeletionState(engine: Engine): Promise<string> {
  const [row] = await engine.inspect(
    sql`SELECT toString(sum(sipHash64(table, mutation_id, is_done))) AS state
     FROM ${everywhere(engine, sql`system.mutations`)} WHERE ${DELETES} SETTINGS skip_unavailable_shards = 1`,
  );
  return String(row?.['state']);
}

/** Whether the engine merges or rewrites parts of Tailrace's tables. */
export async function isRewriting(engine: Engine): Promise<boolean> {
  const rows = await engine.inspect(
    sql`SELECT 1 FROM ${everywhere(engine, sql`system.merges`)} WHERE database = currentDatabase() LIMIT 1`,
  );
  return rows.length > 0;
}

// Rollups are mutations, too.
const DELETES = sql`database = currentDatabase() AND position(command, 'DELETE WHERE') > 0`;

/** Returns the name of a system table; on a cluster, of that on every server. */
export function everywhere({ cluster }: Pick<Engine, 'cluster'>, table: Sql): Sql {
  return cluster === '' ? table : sql`clusterAllReplicas(${cluster}, ${table})`;
}

/** Returns the condition by which system tables with a column `table` list only the rows' table of a source. */
export function isOf({ cluster }: Engine, source: Source): Sql {
  return sql`database = currentDatabase() AND table = ${storedTable(source, cluster)}`;
}
