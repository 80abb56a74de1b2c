import type { DayPlan } from '../copy/plan.ts';
import { formatCount, sum } from './format.ts';
import { formatWideTable } from './table.ts';

/** The result of one day. */
export interface DayDone extends DayPlan {
  readonly seconds: number;
}

const STEPS: Readonly<Record<DayPlan['step'], string>> = {
  copy: 'to copy',
  continue: 'begun, to continue',
  check: 'copied, to compare again',
  newer: 'copied',
  old: 'left out: beyond the retention',
};

/** Prints the result of a dry run. */
export function printPlan(plans: readonly DayPlan[], target: string): void {
  const rows = plans.map(({ source, day, rows, bytes, step }) => [
    source.name,
    day,
    formatCount(rows),
    formatCount(bytes),
    STEPS[step],
  ]);
  process.stdout.write(`${formatWideTable(['source', 'day', 'rows', 'bytes', 'what'], rows)}\n`);
  const sent = plans.filter(isSent);
  process.stdout.write(
    `${formatCount(sum(sent.map((plan) => plan.rows)))} rows to ${target}; no request was sent to the server\n`,
  );
}

/** Prints the result of a copy. */
export function printDone(done: readonly DayDone[], target: string): void {
  const kept = done.filter(({ step }) => step !== 'old');
  const bySource = Map.groupBy(kept, ({ source }) => source.name);
  const rows = [...bySource].map(([name, days]) => [
    name,
    formatCount(days.length),
    formatCount(sum(days.map((day) => day.rows))),
    formatCount(sum(days.map((day) => day.bytes))),
    sum(days.map((day) => day.seconds)).toFixed(1),
  ]);
  process.stdout.write(`${formatWideTable(['source', 'days', 'rows', 'bytes', 'seconds'], rows)}\n`);
  process.stdout.write(
    `${formatCount(sum(kept.map((day) => day.rows)))} rows are at ${target}, counted and compared. Start the service with CLICKHOUSE_URL=${target} and the same data directory, which keeps the keys.\n`,
  );
}

/** Whether rows of the day have to be sent. */
export function isSent({ step }: DayPlan): boolean {
  return step === 'copy' || step === 'continue';
}
