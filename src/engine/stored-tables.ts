import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredTable } from './schema.ts';

/**
 * A description of the embedded store's tables, beside the store, for `tailrace check`: the store itself belongs to one process,
 * so a check could not look into it while a service runs.
 */
const FILE = 'tables.json';

/** Tables by name, as `readTables` gives them. */
export type StoredTables = ReadonlyMap<string, StoredTable>;

/** Writes the description as a whole or not at all. Without room for it the older one stays, which lacks columns at most. */
export function writeStoredTables(dataDir: string, tables: StoredTables): void {
  const entries = [...tables].map(([name, table]) => [
    name,
    { ...table, columns: Object.fromEntries(table.columns) },
  ]);
  const text = `${JSON.stringify(Object.fromEntries(entries))}\n`;
  const file = join(dataDir, FILE);
  try {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // The service serves without it.
  }
}

/** The state of a data directory: no store, a store without a description (older version), or its description. */
export function readStoredTables(dataDir: string): 'no store' | 'not described' | StoredTables {
  try {
    const tables = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as Record<string, DescribedTable>; // `writeStoredTables` wrote it
    return new Map(
      Object.entries(tables).map(([name, table]) => [
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
