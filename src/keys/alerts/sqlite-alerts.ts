import type { DatabaseSync } from 'node:sqlite';
import { transact } from '../../lib/sqlite.ts';
import { createSqliteRun } from '../sqlite-run.ts';
import { type AlertStore, createAlertStore } from './alert-store.ts';

/** Creates the store in SQLite. @param guarded maps failures */
export function createSqliteAlerts(database: DatabaseSync, guarded: <T>(work: () => T) => T): AlertStore {
  const run = createSqliteRun(database);
  return createAlertStore({
    nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    run: async (statement) => guarded(() => run(statement)),
    runIf: async ({ condition, statements, isDurable }) =>
      guarded(() => {
        // In WAL mode the disk is waited for only if a transaction must survive a loss of power.
        if (!isDurable) database.exec('PRAGMA synchronous = NORMAL');
        try {
          return transact(database, () => {
            const isMet = run(condition).length > 0;
            if (isMet) for (const statement of statements) run(statement);
            return isMet;
          });
        } finally {
          if (!isDurable) database.exec('PRAGMA synchronous = FULL');
        }
      }),
  });
}
