import type { Source } from '../definitions/source.ts';
import { identifier, sql } from '../sql/sql.ts';
import { everywhere, isOf } from './deletions.ts';
import type { Engine } from './engine.ts';
import { alterTable, dropIndex, findOldRollups, onCluster, rollupProjection, storedTable } from './table.ts';

/** Events of a source that are in parts with and without its rollup. */
export interface RollupProgress {
  readonly source: string;
  readonly rows: number;
  readonly left: number;
}

export interface RollupBuilderOptions {
  readonly engine: Engine;
  /** The managed sources. */
  readonly sources: () => readonly Source[];
  readonly onProgress: (progress: RollupProgress, state: 'started' | 'running' | 'done' | 'failed') => void;
  /** An older rollup could not be dropped; the next `tick` tries again. */
  readonly onNotDropped: (error: unknown) => void;
}

/**
 * Adds rollups to the parts of tables that were written before the rollup was declared, in the background, and drops
 * those that no source has any more. Each part is rewritten whole or not at all, so after a crash the engine, or the
 * next `tick`, continues with the others.
 */
export function createRollupBuilder(options: RollupBuilderOptions) {
  const { engine, sources, onProgress, onNotDropped } = options;
  let left: ReadonlyMap<string, number> = new Map();
  let building: { readonly projection: string; percent: number } | undefined;
  // By projection, rounds that have left parts without it: a part that cannot be rewritten is not retried forever.
  const rounds = new Map<string, number>();
  const hasFailed = (projection: string) => (rounds.get(projection) ?? 0) >= ROUNDS_MAX;
  // The rollups whose predecessors have been dropped.
  let dropped: string | undefined;

  async function tick(): Promise<void> {
    await dropOld().catch(onNotDropped);
    const all = await readProgress(engine, sources());
    left = new Map(all.map((one) => [one.source.name, one.left]));
    const current = all.find(({ projection }) => projection === building?.projection);
    if (building !== undefined && current !== undefined) {
      if (!(await follow(current))) building = undefined;
      return; // the counts were read before `follow` found another state
    }
    building = undefined;
    const next = all.find((one) => one.left > 0 && !hasFailed(one.projection));
    if (next === undefined) return;
    building = { projection: next.projection, percent: 0 };
    report(next, 'started');
    if (!(await isRunning(engine, next))) await materialize(engine, next);
  }

  async function dropOld(): Promise<void> {
    const declared = sources().map(
      ({ table, rollup }) => `${table} ${rollup && rollupProjection(rollup).name}`,
    );
    if (declared.join() === dropped) return;
    for (const source of sources()) await dropOldRollups(engine, source);
    dropped = declared.join();
  }

  /** @returns whether it is still being built */
  async function follow(current: TableProgress): Promise<boolean> {
    if (await isRunning(engine, current)) {
      reportPercent(current);
      return true;
    }
    // Read again: the last parts may have been replaced since.
    const [now = current] = await readProgress(engine, [current.source]);
    left = new Map([...left, [now.source.name, now.left]]);
    rounds.set(now.projection, now.left === 0 ? 0 : (rounds.get(now.projection) ?? 0) + 1);
    if (now.left === 0) report(now, 'done');
    else if (hasFailed(now.projection)) report(now, 'failed');
    return false;
  }

  function reportPercent(current: TableProgress): void {
    const percent = 100 * (1 - current.left / current.rows);
    if (building === undefined || percent < building.percent + PERCENT_STEP) return;
    building.percent = percent;
    report(current, 'running');
  }

  function report({ source, rows, left: rowsLeft }: TableProgress, state: Parameters<typeof onProgress>[1]) {
    onProgress({ source: source.name, rows, left: rowsLeft }, state);
  }

  return {
    /**
     * Looks at every table, and continues or begins with one; to be called every few seconds. Never rejects for a part
     * that failed.
     */
    tick,
    /** Rows without the rollup by source, as of the last `tick`; only sources that have one. */
    get left() {
      return left;
    },
  };
}

const PERCENT_STEP = 10;
// A merge of a part that has the rollup with one that does not have it yet loses it, and the next round finds that part
// again.
const ROUNDS_MAX = 5;

interface TableProgress {
  readonly source: Source;
  readonly projection: string;
  readonly rows: number;
  readonly left: number;
}

/** Reads the state of each source that has a rollup. */
async function readProgress(engine: Engine, sources: readonly Source[]): Promise<TableProgress[]> {
  const tables = sources.flatMap((source) => {
    if (source.rollup === undefined) return [];
    const { name: projection } = rollupProjection(source.rollup);
    return [{ source, projection, table: storedTable(source, engine.cluster) }];
  });
  if (tables.length === 0) return [];
  const list = tables.map(({ table }) => table);
  const names = tables.map(({ projection }) => projection);
  const rows = await engine.inspect(
    sql`SELECT table, sum(rows) AS all,
       sumIf(rows, NOT has(projections, transform(table, [${list}], [${names}], ''))) AS left
     FROM ${everywhere(engine, sql`system.parts`)}
     WHERE database = currentDatabase() AND table IN (${list}) AND active GROUP BY table`,
  );
  const byTable = new Map(rows.map((row) => [row['table'], row]));
  return tables.map(({ source, projection, table }) => {
    const row = byTable.get(table);
    return { source, projection, rows: Number(row?.['all'] ?? 0), left: Number(row?.['left'] ?? 0) };
  });
}

/** Whether the engine rewrites parts, or tries to: it retries failures. */
async function isRunning(engine: Engine, { source, projection }: TableProgress): Promise<boolean> {
  const rows = await engine.inspect(
    sql`SELECT 1 FROM ${everywhere(engine, sql`system.mutations`)}
     WHERE ${isOf(engine, source)} AND NOT is_done
       AND position(command, ${`MATERIALIZE PROJECTION ${projection}`}) > 0`,
  );
  return rows.length > 0;
}

async function materialize(engine: Engine, { source, projection }: TableProgress): Promise<void> {
  const what = sql`MATERIALIZE PROJECTION ${identifier(projection)} SETTINGS mutations_sync = 0`;
  await engine.command(alterTable(source, engine.cluster, what));
}

/** Drops projections; parts are rewritten without them in the background. */
async function dropOldRollups(engine: Engine, source: Source): Promise<void> {
  const { cluster } = engine;
  const isTable = sql`database = currentDatabase() AND name = ${storedTable(source, cluster)}`;
  const [row] = await engine.inspect(
    sql`SELECT create_table_query AS sql FROM system.tables WHERE ${isTable}`,
  );
  for (const name of findOldRollups(source, String(row?.['sql']))) {
    // The engine does not drop a projection that it still adds to older parts, or fails to add. Without the right to
    // kill that, dropping waits for it.
    const kill = sql`KILL MUTATION${onCluster(cluster)} WHERE ${isOf(engine, source)} AND position(command, ${name}) > 0`;
    await engine.command(kill).catch(() => {});
    await engine.command(dropIndex(source, { kind: 'PROJECTION', name }, cluster));
  }
}
