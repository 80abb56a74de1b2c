import type { Query } from '../../lib/postgres.ts';
import type { Statement } from '../statement.ts';
import { type AlertStore, createAlertStore } from './alert-store.ts';

export interface PostgresAlertsOptions {
  readonly ask: Query;
  readonly transact: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
}

export function createPostgresAlerts({ ask, transact }: PostgresAlertsOptions): AlertStore {
  return createAlertStore({
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    run: ({ text, values }) => ask(text, values.map(toText)),
    runIf: ({ condition, statements, isDurable }) =>
      transact(async (query) => {
        if (!isDurable) await query('SET LOCAL synchronous_commit TO off');
        const isMet = (await query(condition.text, condition.values.map(toText))).length > 0;
        if (isMet) for (const { text, values } of statements) await query(text, values.map(toText));
        return isMet;
      }),
  });
}

/** PostgreSQL's text has no NUL, which a comment or an id of a caller may have. */
function toText(value: Statement['values'][number]): Statement['values'][number] {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}
