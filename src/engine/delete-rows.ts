import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { syncFile } from '../lib/file.ts';
import { quote } from '../sql/quote.ts';
import type { Engine } from './engine.ts';
import { onCluster, storedTable } from './table.ts';

export interface DeleteOptions {
  /** Waits between two polls; its rejection ends only the polling. */
  readonly pause: () => Promise<void>;
  /** Called with the number of parts that are still to be rewritten. */
  readonly onParts: (left: number) => void;
}

// After this many failed polls in a row the deletion is reported as failed.
const FAILED_POLLS_MAX = 100;
// Set while rows are deleted.
const SYNCED = 'min_rows_to_fsync_after_merge';
// An impossible partition: dropping it deletes nothing, but makes the engine remove replaced parts.
const NO_PARTITION = "ID 'none'";

/**
 * Deletes the rows of a source that meet a condition and were stored before the call. When it resolves no file contains them: the
 * engine has rewritten each part that had some, and has removed the replaced parts from the disk.
 *
 * The engine keeps replaced parts for eight minutes, since their successors may not have reached the disk. So successors are synced
 * first, then nothing is kept. After a crash the engine continues to rewrite at its next start.
 *
 * @param condition SQL on the columns of the table
 * @throws TailraceError `engine_unavailable` when the engine makes no progress; it keeps trying
 */
export async function deleteRows(
  engine: Engine,
  source: Source,
  condition: string,
  options: DeleteOptions,
): Promise<void> {
  const table = `\`${storedTable(source, engine.cluster)}\`${onCluster(engine.cluster)}`;
  const alter = (what: string) => engine.command(`ALTER TABLE ${table} ${what}`);
  await alter(`MODIFY SETTING ${SYNCED} = 1`);
  await alter(`DELETE WHERE ${condition} SETTINGS mutations_sync = 0`);
  await untilRewritten(engine, source, options);
  if (engine.seesEveryWrite) await syncParts(engine, source);
  await alter('MODIFY SETTING old_parts_lifetime = 0');
  await untilRemoved(engine, source, {
    ...options,
    remove: () => alter(`DROP PARTITION ${NO_PARTITION}`),
  });
  // Kept after a failure: they mark unfinished work (`wasCutOff`) and only cost speed.
  await alter(`RESET SETTING ${SYNCED}, old_parts_lifetime`).catch(() => {});
}

/** Whether the process ended during a deletion of rows of a source, so that files with such rows may exist still. */
export async function wasCutOff(engine: Engine, source: Source): Promise<boolean> {
  const [row] = await engine.inspect(
    `SELECT count() AS found FROM system.tables WHERE database = currentDatabase()
     AND name = ${quote(storedTable(source, engine.cluster))} AND position(create_table_query, '${SYNCED}') > 0`,
  );
  return Number(row?.['found']) > 0;
}

async function untilRewritten(engine: Engine, source: Source, options: DeleteOptions): Promise<void> {
  let failed = 0;
  for (;;) {
    const [row] = await engine.inspect(
      `SELECT count() AS left, sum(parts_to_do) AS parts, max(latest_fail_reason) AS fault
       FROM ${everywhere(engine, 'system.mutations')} WHERE ${isOf(engine, source)} AND NOT is_done`,
    );
    options.onParts(Number(row?.['parts']));
    if (Number(row?.['left']) === 0) return;
    const fault = String(row?.['fault']);
    failed = fault === '' ? 0 : failed + 1;
    if (failed > FAILED_POLLS_MAX) {
      const message = `the events of ${source.name} could not be deleted yet; the engine goes on trying`;
      throw new TailraceError('engine_unavailable', message, { cause: new Error(fault) });
    }
    await options.pause();
  }
}

/** Waits until the parts that are replaced now are removed; merges replace others all the time. */
async function untilRemoved(
  engine: Engine,
  source: Source,
  { pause, remove }: DeleteOptions & { remove: () => Promise<void> },
): Promise<void> {
  const find = async () => {
    const rows = await engine.inspect(
      `SELECT DISTINCT name FROM ${everywhere(engine, 'system.parts')}
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

/** For the embedded engine: parts that were written before this deletion may not have reached the disk either. */
async function syncParts(engine: Engine, source: Source): Promise<void> {
  const rows = await engine.inspect(
    `SELECT path FROM system.parts WHERE ${isOf(engine, source)} AND active AND path != ''`,
  );
  for (const { path } of rows) {
    // With the folder of its rollup. A part that was merged meanwhile has been synced.
    const files = await readdir(String(path), { recursive: true }).catch(() => []);
    for (const file of files) await syncFile(join(String(path), file));
  }
}

/** A system table; on a cluster that of every server. */
export function everywhere({ cluster }: Engine, table: string): string {
  return cluster === '' ? table : `clusterAllReplicas(${quote(cluster)}, ${table})`;
}

/** The condition on system tables with a column `table`: only those of a source's rows. */
export function isOf({ cluster }: Engine, source: Source): string {
  return `database = currentDatabase() AND table = ${quote(storedTable(source, cluster))}`;
}
