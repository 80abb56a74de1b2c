import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { syncFile } from '../lib/file.ts';
import { type Sql, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { toTailraceError } from './failure.ts';
import { alterTable, storedTable } from './table.ts';

export interface DeleteOptions {
  /** Waits between two polls; its rejection ends only the polling. */
  readonly pause: () => Promise<void>;
  /** Called with the number of parts that are still to be rewritten. */
  readonly onParts: (left: number) => void;
  /** Whether another deletion has begun on the table, and is not finished. */
  readonly isShared?: () => boolean;
}

// After this many failed polls in a row the deletion is reported as failed.
const FAILED_POLLS_MAX = 100;
// After so many polls without progress it is checked whether the parts fit on the disk.
const STUCK_POLLS_MAX = 20;
// The engine's own estimate; a rollup in the file takes at least so much more.
const REWRITE_SHARE = 1.1;
const REWRITE_BYTES = 1024 * 1024;
// Inserts wait while a deletion begins, so an engine that does not come back within them is reported.
const BEGIN_TRIES_MAX = 5;
// Ten seconds of pauses, in which an engine restarts or a server becomes available again.
const FINISH_TRIES_MAX = 40;
// Set while rows are deleted.
const SYNCED = sql`min_rows_to_fsync_after_merge`;
// An impossible partition: dropping it deletes nothing, but makes the engine remove replaced parts.
const NO_PARTITION = sql`ID 'none'`;

/**
 * Begins to delete the rows of a source that meet a condition. When it resolves, the engine has recorded, even across a crash, that
 * the rows stored by then have to be deleted; rows that are stored later stay. Retried if the engine ends meanwhile, so the engine
 * may get it twice: the caller stores nothing until it resolves, or accepts that the last one counts.
 *
 * @param condition SQL on the columns of the table
 * @param pause waits between two tries
 */
export async function beginDeletion(
  engine: Engine,
  source: Source,
  condition: Sql,
  pause: () => Promise<void>,
): Promise<void> {
  const alter = createAlter(engine, source, { pause, triesMax: BEGIN_TRIES_MAX });
  // The embedded engine's parts are synced by `finishDeletion`.
  if (!engine.seesEveryWrite) await alter(sql`MODIFY SETTING ${SYNCED} = 1`);
  await alter(sql`DELETE WHERE ${condition} SETTINGS mutations_sync = 0`);
}

/**
 * Resolves when no file contains rows whose deletion has begun: the engine has rewritten each part that had some, and has removed the
 * replaced parts from the disk.
 *
 * The engine keeps replaced parts for eight minutes, since their successors may not have reached the disk. So successors are synced
 * first, then replaced parts are no longer kept. After a crash the engine continues to rewrite at its next start.
 *
 * @throws TailraceError `engine_unavailable` when the engine makes no progress, `overloaded` on a full disk; it keeps trying
 */
export async function finishDeletion(engine: Engine, source: Source, options: DeleteOptions): Promise<void> {
  const { pause, isShared = () => false } = options;
  const alter = createAlter(engine, source, { pause, triesMax: FINISH_TRIES_MAX });
  await alter(sql`MODIFY SETTING ${SYNCED} = 1`);
  await untilRewritten(engine, source, options);
  if (engine.seesEveryWrite) await syncParts(engine, source, pause);
  await alter(sql`MODIFY SETTING old_parts_lifetime = 0`);
  await untilRemoved(engine, source, {
    ...options,
    remove: () => alter(sql`DROP PARTITION ${NO_PARTITION}`),
  });
  // Kept after a failure: they mark unfinished work (`wasCutOff`) and only cost speed.
  const reset = isShared() ? sql`old_parts_lifetime` : sql`${SYNCED}, old_parts_lifetime`;
  await alter(sql`RESET SETTING ${reset}`).catch(() => {});
}

interface Tries {
  readonly pause: () => Promise<void>;
  readonly triesMax: number;
}

/** Alters the table that holds a source's rows. Each statement may be repeated. */
function createAlter(engine: Engine, source: Source, tries: Tries) {
  return (what: Sql) => insist(tries, () => engine.command(alterTable(source, engine.cluster, what)));
}

/** Reads the engine's system tables. */
function createInspect(engine: Engine, { pause }: Pick<DeleteOptions, 'pause'>): Engine['inspect'] {
  return (sql) => insist({ pause, triesMax: FINISH_TRIES_MAX }, () => engine.inspect(sql));
}

/** Retries work that failed because the engine was unavailable. @throws TailraceError with the last failure */
async function insist<T>({ pause, triesMax }: Tries, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const failure = toTailraceError(error);
      if (failure.code !== 'engine_unavailable' || tries >= triesMax) throw failure;
    }
    await pause();
  }
}

/** Whether the process ended during a deletion of rows of a source, so that files with such rows may exist still. */
export async function wasCutOff(engine: Engine, source: Source): Promise<boolean> {
  const [row] = await engine.inspect(
    sql`SELECT count() AS found FROM system.tables WHERE database = currentDatabase()
     AND name = ${storedTable(source, engine.cluster)} AND position(create_table_query, ${SYNCED.text}) > 0`,
  );
  return Number(row?.['found']) > 0;
}

async function untilRewritten(engine: Engine, source: Source, options: DeleteOptions): Promise<void> {
  const inspect = createInspect(engine, options);
  let failed = 0;
  let stuck = 0;
  let parts: unknown;
  for (;;) {
    const [row] = await inspect(
      sql`SELECT count() AS left, sum(parts_to_do) AS parts, max(latest_fail_reason) AS fault
       FROM ${everywhere(engine, sql`system.mutations`)} WHERE ${isOf(engine, source)} AND NOT is_done`,
    );
    options.onParts(Number(row?.['parts']));
    if (Number(row?.['left']) === 0) return;
    const fault = String(row?.['fault']);
    stuck = row?.['parts'] === parts ? stuck + 1 : 0;
    parts = row?.['parts'];
    if (stuck > STUCK_POLLS_MAX && engine.seesEveryWrite) await requireRoom(inspect, engine, source);
    failed = fault === '' ? 0 : failed + 1;
    if (failed > FAILED_POLLS_MAX) {
      const message = `the events of ${source.name} could not be deleted yet; the engine keeps trying`;
      throw new TailraceError('engine_unavailable', message, { cause: new Error(fault) });
    }
    await options.pause();
  }
}

/**
 * The engine waits without a failure if no part fits on the disk. It may fit once merges have ended and replaced parts are removed.
 *
 * @throws TailraceError `overloaded` if none will
 */
async function requireRoom(inspect: Engine['inspect'], engine: Engine, source: Source): Promise<void> {
  const [row] = await inspect(
    sql`SELECT count() AS parts, min(bytes_on_disk) AS bytes,
      (SELECT sum(unreserved_space) FROM system.disks) AS free,
      (SELECT sum(bytes_on_disk) FROM system.parts WHERE NOT active) AS replaced,
      (SELECT count() FROM system.merges) AS merges
     FROM system.parts WHERE ${isOf(engine, source)} AND active AND name IN (
      SELECT arrayJoin(parts_to_do_names) FROM system.mutations WHERE ${isOf(engine, source)} AND NOT is_done)`,
  );
  const read = (name: string) => Number(row?.[name]);
  const needed = read('bytes') * REWRITE_SHARE + REWRITE_BYTES;
  if (needed <= read('free') + read('replaced') || read('merges') > 0) return;
  throw new TailraceError(
    'overloaded',
    `the disk is full: ${read('parts')} files of ${source.name} still have events to delete; rewriting the smallest needs ${Math.ceil(needed / 1e6)} MB, and ${Math.floor(read('free') / 1e6)} MB are free. The engine continues when there is room: delete whole days by a lower retention_days or TAILRACE_STORE_BYTES_MAX, or enlarge the disk`,
  );
}

/** Waits until the parts that are replaced now are removed; merges replace others all the time. */
async function untilRemoved(
  engine: Engine,
  source: Source,
  { pause, remove }: DeleteOptions & { remove: () => Promise<void> },
): Promise<void> {
  const inspect = createInspect(engine, { pause });
  const find = async () => {
    const rows = await inspect(
      sql`SELECT DISTINCT name FROM ${everywhere(engine, sql`system.parts`)}
       WHERE ${isOf(engine, source)} AND NOT active AND rows > 0`,
    );
    return new Set(rows.map((row) => String(row['name'])));
  };
  const replaced = await find();
  for (let left = replaced; left.size > 0; left = replaced.intersection(await find())) {
    await remove();
    if (replaced.isDisjointFrom(await find())) return;
    await pause(); // a query still reads one
  }
}

/** Syncs parts of the embedded engine that were written before this deletion: they may not have reached the disk either. */
async function syncParts(engine: Engine, source: Source, pause: () => Promise<void>): Promise<void> {
  const rows = await createInspect(engine, { pause })(
    sql`SELECT path FROM system.parts WHERE ${isOf(engine, source)} AND active AND path != ''`,
  );
  for (const { path } of rows) {
    // With the folder of its rollup. A part that was merged meanwhile has been synced.
    const files = await readdir(String(path), { recursive: true }).catch(() => []);
    for (const file of files) await syncFile(join(String(path), file));
  }
}

/** Returns the name of a system table; on a cluster, of that on every server. */
export function everywhere({ cluster }: Engine, table: Sql): Sql {
  return cluster === '' ? table : sql`clusterAllReplicas(${cluster}, ${table})`;
}

/** Returns the condition by which system tables with a column `table` list only the rows' table of a source. */
export function isOf({ cluster }: Engine, source: Source): Sql {
  return sql`database = currentDatabase() AND table = ${storedTable(source, cluster)}`;
}
