import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Engine } from '../../engine/engine.ts';
import { STORE_VERSION } from '../../engine/store-version.ts';

/** One part of a table as it was: files that never change, and are there for as long as the snapshot is. */
export interface SnapshotPart {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

export interface SnapshotTable {
  readonly name: string;
  /** The statement that makes it. */
  readonly definition: string;
  readonly parts: readonly SnapshotPart[];
}

/** All rows that were stored when it was made. */
export interface Snapshot {
  /** Of the layout of the tables, in the process that made it. */
  readonly storeVersion: number;
  readonly tables: readonly SnapshotTable[];
}

// The engine writes other characters than letters, digits and underscores as %2D and the like.
const NAME_PREFIX = 'tailrace_';
const nameOf = (id: string) => NAME_PREFIX + id.replaceAll(/\W/g, '');
const findShadowDir = (dataDir: string) => join(resolve(dataDir), 'store', 'shadow');

/**
 * Freezes every table of the embedded store: hard links to the files of its parts, which take no room until the engine has replaced
 * the parts. Rows that were acknowledged before are in it. Each table is frozen in one step, while events go on coming in.
 *
 * @param id of this snapshot alone, such as a UUID
 */
export async function createSnapshot(engine: Engine, id: string): Promise<Snapshot> {
  const tables = await engine.inspect(
    `SELECT name, create_table_query FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
  );
  const frozen: SnapshotTable[] = [];
  for (const table of tables) {
    const name = String(table['name']);
    const parts = await engine.inspect(
      `ALTER TABLE \`${name}\` FREEZE WITH NAME '${nameOf(id)}' SETTINGS alter_partition_verbose_result = 1`,
    );
    frozen.push({
      name,
      definition: String(table['create_table_query']),
      parts: parts.map((part) => ({
        name: String(part['part_name']),
        path: String(part['part_backup_path']),
      })),
    });
  }
  return { storeVersion: STORE_VERSION, tables: frozen };
}

/** Gives the room of a snapshot back. */
export async function removeSnapshot(dataDir: string, id: string): Promise<void> {
  await rm(join(findShadowDir(dataDir), nameOf(id)), { recursive: true, force: true });
}

/** Removes the snapshots of processes that were killed. For the owner of the store, when it opens it. */
export async function removeLeftSnapshots(dataDir: string): Promise<void> {
  const names = await readdir(findShadowDir(dataDir)).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(NAME_PREFIX)))
    await removeSnapshot(dataDir, name.slice(NAME_PREFIX.length));
}
