import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { createAlertStore } from '../../src/keys/alerts/alert-store.ts';
import { type ControlDatabase, createSchema, type Statement } from '../../src/keys/database.ts';

/** The store of alerts on a database in memory, which rejects each statement with `state.failure` while that is set. */
export function createMemoryAlerts() {
  const database = new DatabaseSync(':memory:');
  for (const text of createSchema('sqlite')) database.exec(text);
  const state: { failure: Error | undefined } = { failure: undefined };
  const prepared = new Map<string, ReturnType<typeof database.prepare>>();
  const run = ({ text, values }: Statement) => {
    if (state.failure !== undefined) throw state.failure;
    const statement = prepared.get(text) ?? database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'));
    prepared.set(text, statement);
    return statement.all(...(values as SQLInputValue[])) as Record<string, unknown>[];
  };
  const transact: ControlDatabase['transact'] = async (reads, decide) => {
    const { statements, result } = decide(reads.map(run));
    statements.forEach(run);
    return result;
  };
  const store = createAlertStore({ nowMs: '0', run: async (statement) => run(statement), transact });
  return { database, store, state };
}
