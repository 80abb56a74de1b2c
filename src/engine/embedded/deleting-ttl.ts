import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, sql } from '../../sql/sql.ts';
import { type EngineEnv, endProcess, startEngineProcess } from '../process/engine-process.ts';
import { setTableTtl } from '../table.ts';
import { DATABASE, writeEngineConfig } from './config.ts';
import { openFirst } from './open-process.ts';
import { findConfigDir, findStoreDir } from './sessions.ts';

/**
 * Removes the TTL by which the engine itself deleted old events from the tables of an older version. This has to happen before any
 * merge: with a wrong clock the first merges would delete every event. So the engine is opened once with merges off, and
 * closed again. A store without such a table is not opened.
 *
 * @throws EngineError when the engine cannot open the store
 */
export async function removeDeletingTtls(
  dataDir: string,
  memoryBytesMax: number,
  env?: EngineEnv,
): Promise<void> {
  const path = findStoreDir(dataDir);
  const tables = findTables(join(path, 'metadata', DATABASE));
  if (tables.length === 0) return;
  const connectionArgs = writeEngineConfig(findConfigDir(dataDir), memoryBytesMax, false);
  const statements = tables.map(
    (table) => setTableTtl(sql`${identifier(DATABASE)}.${identifier(table)}`, '').text,
  );
  const { first } = await openFirst(async () => {
    const process = startEngineProcess(1, env);
    try {
      await process.ask(0, { op: 'open', path, connectionArgs, statements });
      return process;
    } catch (error) {
      await endProcess(process);
      throw error;
    }
  });
  await first.ask(0, { op: 'close' }).finally(() => endProcess(first));
}

/** Reads the engine's own table definitions, one file each. */
function findTables(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith('.sql') && deletesByItself(readFileSync(join(dir, file), 'utf8')))
    .map((file) => decodeURIComponent(file.slice(0, -'.sql'.length)));
}

/** Whether a table's definition still has the clause by which the engine deleted old events itself. */
function deletesByItself(definition: string): boolean {
  return /\bTTL timestamp \+ toIntervalDay\(\d+\)(?! RECOMPRESS)/.test(definition);
}
