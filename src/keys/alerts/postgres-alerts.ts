import type { Query } from '../../lib/postgres.ts';
import { type AlertStore, createAlertStore } from './alert-store.ts';

export interface PostgresAlertsOptions {
  readonly ask: Query;
  readonly transact: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
}

export function createPostgresAlerts({ ask, transact }: PostgresAlertsOptions): AlertStore {
  return createAlertStore({
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    run: ({ text, values }) => ask(text, values),
    runIf: (condition, statements) =>
      transact(async (query) => {
        const isMet = (await query(condition.text, condition.values)).length > 0;
        if (isMet) for (const { text, values } of statements) await query(text, values);
        return isMet;
      }),
  });
}
