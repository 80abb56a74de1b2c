import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Engine } from '../../engine/engine.ts';
import { STORE_VERSION } from '../../engine/store-file.ts';
import { identifier, sql } from '../../sql/sql.ts';

/** One part of a table: files that never change and exist as long as the snapshot. */
export interface SnapshotPart {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

export interface SnapshotTable {
  readonly name: string;
  /** Its CREATE statement. */
  readonly definition: string;
  readonly parts: readonly SnapshotPart[];
}

/** All rows that were stored when it was created. */
export interface Snapshot {
  /** The layout of the tables, in the process that created it. */
  readonly storeVersion: number;
  readonly tables: readonly SnapshotTable[];
}

// The engine percent-encodes characters other than letters, digits and underscores.
const NAME_PREFIX = 'tailrace_';
const nameOf = (id: string) => NAME_PREFIX + id.replaceAll(/\W/g, '');
const findShadowDir = (dataDir: string) => join(resolve(dataDir), 'store', 'shadow');

/**
 * Freezes every table of the embedded store: hard links to the files of its parts, which take no space until the engine replaces the
 * parts. The snapshot has every row acknowledged before. Each table is frozen atomically, while events are being stored.
 *
 * @param id unique, such as a UUID
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
      sql`ALTER TABLE ${identifier(name)} FREEZE WITH NAME ${nameOf(id)} SETTINGS alter_partition_verbose_result = 1`,
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

export async function removeSnapshot(dataDir: string, id: string): Promise<void> {
  await rm(join(findShadowDir(dataDir), nameOf(id)), { recursive: true, force: true });
}

/** Removes the snapshots of killed processes; called by the owner of the store when it opens it. */
export async function removeLeftSnapshots(dataDir: string): Promise<void> {
  const names = await readdir(findShadowDir(dataDir)).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(NAME_PREFIX)))
    await removeSnapshot(dataDir, name.slice(NAME_PREFIX.length));
}
