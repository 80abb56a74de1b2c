import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../errors.ts';
import { DATABASE } from './config.ts';
import { findStoreDir } from './sessions.ts';

/** A table whose files are empty or cut off: the engine reports no error if it creates one on a full disk, but cannot open it again. */
interface Unfinished {
  readonly name: string;
  readonly hasEvents: boolean;
  /** All files and folders of the table. */
  readonly paths: readonly string[];
}

/** @returns whether a table of the store is unfinished */
export function hasUnfinishedTables(dataDir: string): boolean {
  return findUnfinished(findStoreDir(dataDir)).length > 0;
}

/**
 * Removes the tables that a full disk left unfinished, which are created anew. Call it before the engine opens the store.
 *
 * @throws InputError if one of them has events
 */
export function removeUnfinishedTables(dataDir: string): void {
  const unfinished = findUnfinished(findStoreDir(dataDir));
  const faults = unfinished
    .filter(({ hasEvents }) => hasEvents)
    .map(
      ({ name }) =>
        `the definition of table ${name} in ${dataDir} is cut off, but it has events; restore a backup`,
    );
  if (faults.length > 0) throw new InputError(faults);
  for (const path of unfinished.flatMap(({ paths }) => paths)) rmSync(path, { recursive: true, force: true });
}

function findUnfinished(storeDir: string): Unfinished[] {
  const definitions = join(storeDir, 'metadata', DATABASE);
  const files = existsSync(definitions)
    ? readdirSync(definitions).filter((file) => file.endsWith('.sql'))
    : [];
  const tables = files.flatMap((file) => describeUnfinished(storeDir, join(definitions, file), file));
  const database = join(storeDir, 'metadata', `${DATABASE}.sql`);
  // The name of the database leads to its definitions; without it they would not be found.
  if (!existsSync(database) || !isCutOff(database)) return tables;
  return [
    ...tables,
    { name: DATABASE, hasEvents: files.length > tables.length, paths: [definitions, database] },
  ];
}

function describeUnfinished(storeDir: string, definition: string, file: string): Unfinished[] {
  const encoded = file.slice(0, -'.sql'.length);
  const link = join(storeDir, 'data', DATABASE, encoded);
  const dir = existsSync(link) ? realpathSync(link) : undefined;
  if (!isCutOff(definition) && (dir === undefined || !isEmpty(join(dir, VERSION_FILE)))) return [];
  const hasEvents = dir !== undefined && readdirSync(dir).some((name) => !NO_PARTS.has(name));
  const paths = [definition, link, ...(dir === undefined ? [] : [dir])];
  return [{ name: decodeURIComponent(encoded), hasEvents, paths }];
}

// The engine creates these with a table; anything else is a part of the table, or an open change.
const VERSION_FILE = 'format_version.txt';
const NO_PARTS: ReadonlySet<string> = new Set([VERSION_FILE, 'detached', 'deduplication_logs']);

/** Whether a definition lacks its end: the engine writes a newline there. */
function isCutOff(definition: string): boolean {
  return !readFileSync(definition, 'latin1').endsWith('\n');
}

function isEmpty(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0;
}
