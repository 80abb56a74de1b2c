import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { DATABASE } from './embedded-config.ts';
import { deletesByItself, setTableTtl } from './table.ts';

/**
 * Takes from the tables of an older version the clause by which the engine deleted old events itself. It has to be gone before
 * the engine may merge anything: with a wrong clock its first merges would delete every event. So the engine is opened once
 * with settings under which it merges nothing, and closed again. A store without such a table is not opened.
 *
 * @param connectionArgs of an engine that merges nothing
 */
export async function removeDeletingTtls(storeDir: string, connectionArgs: string[]): Promise<void> {
  const tables = findTables(join(storeDir, 'metadata', DATABASE));
  if (tables.length === 0) return;
  const session = new Session(storeDir, { connectionArgs });
  try {
    for (const table of tables) await session.queryAsync(setTableTtl(`${DATABASE}.\`${table}\``, ''));
  } finally {
    session.close();
  }
}

/** By the definitions that the engine keeps as text, a file a table. */
function findTables(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith('.sql') && deletesByItself(readFileSync(join(dir, file), 'utf8')))
    .map((file) => decodeURIComponent(file.slice(0, -'.sql'.length)));
}
