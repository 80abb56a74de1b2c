import type { Row } from '../database.ts';
import type { AlertStore } from './alert-store.ts';
import { COPIED_TABLES, type CopiedTable, keyOfRow } from './row-store.ts';

/** Rows of all tables. */
export interface CopiedAlerts {
  readonly added: number;
  readonly left: number;
}

// Rows of one statement, which has at most seven values of each.
const BATCH = 100;

/**
 * Copies states, history, silences and waiting messages, so that nothing is sent again after a move. Idempotent: a
 * message is copied once, even if it was sent meanwhile, and a state only if it is newer than the target's.
 */
export async function copyAlerts(from: AlertStore, to: AlertStore): Promise<CopiedAlerts> {
  const copied = { added: 0, left: 0 };
  const states = await to.readStates();
  for (const table of COPIED_TABLES)
    for (let after = ''; ; ) {
      const rows = await from.readRows(table, after, BATCH);
      const last = rows.at(-1);
      if (last === undefined) break;
      const added = await addRows(to, table, rows, states);
      copied.added += added;
      copied.left += rows.length - added;
      after = keyOfRow(table, last);
    }
  return copied;
}

/** @param states those of the target */
async function addRows(
  to: AlertStore,
  table: CopiedTable,
  rows: readonly Row[],
  states: ReadonlyMap<string, string>,
): Promise<number> {
  if (table === 'states')
    return await to.addRows(
      table,
      rows.filter((row) => isNewer(row, states)),
    );
  if (table !== 'outbox') return await to.addRows(table, rows);
  let added = 0;
  for (const row of rows) if (await to.addOutboxRow(row, traceOf(row))) added++;
  return added;
}

/** Whether a state is of a later tick than that of the target. */
function isNewer(row: Row, states: ReadonlyMap<string, string>): boolean {
  const known = states.get(keyOfRow('states', row));
  return known === undefined || tickOf(String(row['state'])) > tickOf(known);
}

function tickOf(state: string): number {
  const { state: stored } = JSON.parse(state) as { state?: { tickMs?: number } }; // written by src/alerts/evaluator.ts
  return stored?.tickMs ?? 0;
}

/** The entry that remains of a message in the history of its alert. */
function traceOf(row: Row) {
  const { alertId = '' } = JSON.parse(String(row['message'])) as { alertId?: string }; // written by src/alerts/outbox.ts
  const reason = `a message to ${String(row['receiver'])} was copied from another control store while it waited`;
  return { alert: alertId, entry: JSON.stringify({ change: 'note', reason }), atMs: Number(row['first_ms']) };
}
