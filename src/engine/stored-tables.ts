import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../lib/file.ts';
import type { StoredTable } from './schema.ts';

/**
 * A description of the embedded store's tables, beside the store, for `tailrace check`: while a service runs, no other process can
 * read the store.
 */
const FILE = 'tables.json';

/** Tables by name, as `readTables` returns them. */
export type StoredTables = ReadonlyMap<string, StoredTable>;

/** Writes the description atomically. If the disk is full the older one stays, which can only lack columns. */
export function writeStoredTables(dataDir: string, tables: StoredTables): void {
  const described = Object.fromEntries(
    [...tables].map(([name, table]) => [name, { ...table, columns: Object.fromEntries(table.columns) }]),
  );
  const text = `${JSON.stringify(described)}\n`;
  const file = join(dataDir, FILE);
  try {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) replaceFile(file, text);
  } catch {
    // The service does not need it.
  }
}

/** Reads the state of a data directory: no store, a store without a description (older version), or its description. */
export function readStoredTables(dataDir: string): 'no store' | 'not described' | StoredTables {
  try {
    const described = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as Record<string, DescribedTable>; // by `writeStoredTables`
    return new Map(
      Object.entries(described).map(([name, table]) => [
        name,
        { ...table, columns: new Map(Object.entries(table.columns)) },
      ]),
    );
  } catch {
    return existsSync(join(dataDir, 'store')) ? 'not described' : 'no store';
  }
}

interface DescribedTable extends Omit<StoredTable, 'columns'> {
  readonly columns: Record<string, { readonly type: string; readonly expression: string }>;
}
