import { setTimeout as wait } from 'node:timers/promises';
import type { Source } from '../definitions/source.ts';
import { identifier, type Sql, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { readTables } from './schema.ts';
import { alterTable, dropIndex, findOldRollups, onCluster, rollupProjection, storedTable } from './table.ts';

// Deletions and rollups of stored events: the engine records each, and rewrites the parts of a table in the background.

/** The parts of a table that a deletion still has to rewrite. */
export interface Unfinished {
  readonly parts: number;
  /** The engine's last failure; empty if there was none. */
  readonly fault: string;
}

/**
 * Creates a deletion of the rows of a source that meet a condition. When it resolves, the engine has recorded, even
 * across a crash, that the rows stored by then have to be deleted. Rows that are stored later stay.
 */
export async function createDeletion(engine: Engine, source: Source, condition: Sql): Promise<void> {
  const what = sql`DELETE WHERE ${condition} SETTINGS mutations_sync = 0`;
  await engine.command(alterTable(source, engine.cluster, what));
}

/** Reads the unfinished deletions, by the name of the table that has the rows. */
export async function readUnfinished(engine: Engine): Promise<Map<string, Unfinished>> {
  const rows: (Unfinished & { table: string })[] = await engine.inspect(
    sql`SELECT table, sum(parts_to_do) AS parts, max(latest_fail_reason) AS fault
     FROM ${everywhere(engine, sql`system.mutations`)} WHERE ${DELETES} AND NOT is_done GROUP BY table`,
  );
  return new Map(rows.map(({ table, ...unfinished }) => [table, unfinished]));
}

const POLL_EVERY_MS = 250;

/**
 * Waits until no deletion is unfinished, for copies and backups: they have the events that it has not removed yet, and
 * nothing would remove them there. @throws if `signal` aborts
 */
export async function untilDeleted(engine: Engine, signal: AbortSignal): Promise<void> {
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
function everywhere({ cluster }: Engine, table: Sql): Sql {
  return cluster === '' ? table : sql`clusterAllReplicas(${cluster}, ${table})`;
}

/** Returns the condition by which system tables with a column `table` list only the rows' table of a source. */
function isOf({ cluster }: Engine, source: Source): Sql {
  return sql`database = currentDatabase() AND table = ${storedTable(source, cluster)}`;
}

/** The rollup of a source, by the name of its projection: all events, and those that are in parts without it. */
export interface RollupProgress {
  readonly source: Source;
  readonly projection: string;
  readonly rows: number;
  readonly left: number;
}

export interface RollupBuilderOptions {
  readonly engine: Engine;
  /** The managed sources. */
  readonly sources: () => readonly Source[];
  readonly onProgress: (progress: RollupProgress, state: 'started' | 'done' | 'failed') => void;
  /** An older rollup could not be dropped; the next `tick` tries again. */
  readonly onNotDropped: (error: unknown) => void;
}

/**
 * Adds rollups to the parts of tables that were written before the rollup was declared, in the background, and drops
 * those that no source has any more. Each part is rewritten whole or not at all, so after a crash the engine, or the
 * next `tick`, continues with the others.
 */
export function createRollupBuilder({ engine, sources, onProgress, onNotDropped }: RollupBuilderOptions) {
  let left: ReadonlyMap<string, number> = new Map();
  let building: string | undefined;
  // By projection, rounds that have left parts without it: a part that cannot be rewritten is not retried forever.
  const rounds = new Map<string, number>();
  const hasFailed = (projection: string) => (rounds.get(projection) ?? 0) >= ROUNDS_MAX;
  // The rollups whose predecessors have been dropped.
  let dropped: string | undefined;

  async function dropOld(): Promise<void> {
    const declared = sources()
      .map(({ table, rollup }) => `${table} ${rollup && rollupProjection(rollup).name}`)
      .join();
    if (declared === dropped) return;
    const stored = await readTables(engine);
    for (const source of sources()) {
      const definition = stored.get(storedTable(source, engine.cluster))?.definition ?? '';
      for (const name of findOldRollups(source, definition)) await dropRollup(engine, source, name);
    }
    dropped = declared;
  }

  async function finish({ source, projection }: RollupProgress): Promise<void> {
    // Read again: the counts were read before it had ended, and the last parts may have been replaced since.
    const [now] = await readProgress(engine, [source]);
    if (now === undefined) return;
    left = new Map([...left, [source.name, now.left]]);
    rounds.set(projection, now.left === 0 ? 0 : (rounds.get(projection) ?? 0) + 1);
    if (now.left === 0) onProgress(now, 'done');
    else if (hasFailed(projection)) onProgress(now, 'failed');
  }

  return {
    /** Continues or begins with one table; to be called every few seconds. Never rejects for a part that failed. */
    async tick(): Promise<void> {
      await dropOld().catch(onNotDropped);
      const all = await readProgress(engine, sources());
      left = new Map(all.map((one) => [one.source.name, one.left]));
      const current = all.find(({ projection }) => projection === building);
      if (current !== undefined && (await isRunning(engine, current))) return;
      building = undefined;
      if (current !== undefined) return await finish(current);
      const next = all.find((one) => one.left > 0 && !hasFailed(one.projection));
      if (next === undefined) return;
      building = next.projection;
      onProgress(next, 'started');
      if (await isRunning(engine, next)) return;
      const what = sql`MATERIALIZE PROJECTION ${identifier(next.projection)} SETTINGS mutations_sync = 0`;
      await engine.command(alterTable(next.source, engine.cluster, what));
    },
    /** Rows without the rollup by source, as of the last `tick`; only sources that have one. */
    get left() {
      return left;
    },
  };
}

// A merge of a part that has the rollup with one that does not have it yet loses it, and the next round finds that part
// again.
const ROUNDS_MAX = 5;

/** Reads the state of each source that has a rollup. */
async function readProgress(engine: Engine, sources: readonly Source[]): Promise<RollupProgress[]> {
  const tables = sources.flatMap((source) => {
    if (source.rollup === undefined) return [];
    const { name: projection } = rollupProjection(source.rollup);
    return [{ source, projection, table: storedTable(source, engine.cluster) }];
  });
  if (tables.length === 0) return [];
  const list = tables.map(({ table }) => table);
  const names = tables.map(({ projection }) => projection);
  const rows: { table: string; all: number; left: number }[] = await engine.inspect(
    sql`SELECT table, sum(rows) AS all,
       sumIf(rows, NOT has(projections, transform(table, [${list}], [${names}], ''))) AS left
     FROM ${everywhere(engine, sql`system.parts`)}
     WHERE database = currentDatabase() AND table IN (${list}) AND active GROUP BY table`,
  );
  const byTable = new Map(rows.map((row) => [row.table, row]));
  return tables.map(({ source, projection, table }) => {
    const { all = 0, left = 0 } = byTable.get(table) ?? {};
    return { source, projection, rows: all, left };
  });
}

/** Whether the engine rewrites parts, or tries to: it retries failures. */
async function isRunning(engine: Engine, { source, projection }: RollupProgress): Promise<boolean> {
  const rows = await engine.inspect(
    sql`SELECT 1 FROM ${everywhere(engine, sql`system.mutations`)}
     WHERE ${isOf(engine, source)} AND NOT is_done
       AND position(command, ${`MATERIALIZE PROJECTION ${projection}`}) > 0`,
  );
  return rows.length > 0;
}

/** Drops a projection; parts are rewritten without it in the background. */
async function dropRollup(engine: Engine, source: Source, name: string): Promise<void> {
  // The engine does not drop a projection that it still adds to older parts, or fails to add. Without the right to
  // kill that, dropping waits for it.
  const { cluster } = engine;
  const isOfName = sql`${isOf(engine, source)} AND position(command, ${name}) > 0`;
  await engine.command(sql`KILL MUTATION${onCluster(cluster)} WHERE ${isOfName}`).catch(() => {});
  await engine.command(dropIndex(source, { kind: 'PROJECTION', name }, cluster));
}
