import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { transact } from '../../lib/sqlite.ts';
import { type AlertStore, createAlertStore, type Statement } from './alert-store.ts';

/** Creates the store in SQLite. @param guarded maps failures */
export function createSqliteAlerts(database: DatabaseSync, guarded: <T>(work: () => T) => T): AlertStore {
  const prepared = new Map<string, StatementSync>();
  const run = ({ text, values }: Statement) => {
    const statement = prepared.get(text) ?? database.prepare(toSqlite(text));
    prepared.set(text, statement); // the store has a fixed set of texts
    return statement.all(...values);
  };
  return createAlertStore({
    nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    run: async (statement) => guarded(() => run(statement)),
    runIf: async (condition, statements) =>
      guarded(() =>
        transact(database, () => {
          const isMet = run(condition).length > 0;
          if (isMet) for (const statement of statements) run(statement);
          return isMet;
        }),
      ),
  });
}

function toSqlite(text: string): string {
  return text.replaceAll('tailrace_', '').replaceAll(/\$(\d+)/g, '?$1');
}
