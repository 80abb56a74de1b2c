import Table from 'cli-table3';
import type { DayPlan } from '../copy/plan.ts';

/** What was done with one day. */
export interface DayDone extends DayPlan {
  readonly seconds: number;
}

const STEPS: Readonly<Record<DayPlan['step'], string>> = {
  copy: 'to be copied',
  continue: 'begun, to be continued',
  check: 'copied, to be compared again',
  newer: 'copied',
  old: 'left out: beyond what is kept',
};

/** What a dry run says. */
export function printPlan(plans: readonly DayPlan[], target: string): void {
  const rows = plans.map(({ source, day, rows, bytes, step }) => [
    source.name,
    day,
    count(rows),
    count(bytes),
    STEPS[step],
  ]);
  printTable(['source', 'day', 'rows', 'bytes', 'what'], rows);
  const sent = plans.filter(isSent);
  process.stdout.write(
    `${count(sum(sent.map((plan) => plan.rows)))} rows to ${target}; nothing was sent, and the server was not asked\n`,
  );
}

/** What a copy says in the end. */
export function printDone(done: readonly DayDone[], target: string): void {
  const kept = done.filter(({ step }) => step !== 'old');
  const bySource = Map.groupBy(kept, ({ source }) => source.name);
  const rows = [...bySource].map(([name, days]) => [
    name,
    count(days.length),
    count(sum(days.map((day) => day.rows))),
    count(sum(days.map((day) => day.bytes))),
    sum(days.map((day) => day.seconds)).toFixed(1),
  ]);
  printTable(['source', 'days', 'rows', 'bytes', 'seconds'], rows);
  process.stdout.write(
    `${count(sum(kept.map((day) => day.rows)))} rows are at ${target}, counted and compared. Start the service with CLICKHOUSE_URL=${target} and the same data directory, which keeps the keys.\n`,
  );
}

function printTable(head: string[], rows: readonly string[][]): void {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows);
  process.stdout.write(`${table}\n`);
}

/** Whether rows of a day are to be sent. */
export function isSent({ step }: DayPlan): boolean {
  return step === 'copy' || step === 'continue';
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export function count(number: number): string {
  return number.toLocaleString('en');
}
