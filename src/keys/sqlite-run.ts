import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { Statement } from './statement.ts';

/** Returns a function that runs statements written for PostgreSQL: tables without their prefix, `?1` for `$1`. */
export function createSqliteRun(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>(); // the stores have a fixed set of texts
  return ({ text, values }: Statement): Record<string, SQLOutputValue>[] => {
    const statement = prepared.get(text) ?? database.prepare(toSqlite(text));
    prepared.set(text, statement);
    return statement.all(...values);
  };
}

function toSqlite(text: string): string {
  return text.replaceAll('tailrace_', '').replaceAll(/\$(\d+)/g, '?$1');
}
