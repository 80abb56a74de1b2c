import Table from 'cli-table3';
import type { RetentionReport } from '../retention/file.ts';
import { describeRetention } from '../retention/notice.ts';

/** What is due, and why it is not deleted, for people. */
export function printRetention(report: RetentionReport): void {
  const { clock, due } = report;
  process.stdout.write(`clock: ${new Date(clock.clockMs).toISOString()}, ${clock.state}\n`);
  if (due.length === 0) process.stdout.write('nothing is due\n');
  else process.stdout.write(`${createTable(due)}\n`);
  const notice = describeRetention(report);
  if (notice !== undefined) process.stdout.write(`${notice.message}\n`);
}

function createTable(due: RetentionReport['due']) {
  const head = ['source', 'for', 'first day', 'last day', 'events', 'share', ''];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { source, reason, days, percent, held } of due) {
    const rows = days.reduce((sum, day) => sum + day.rows, 0);
    const state = held === undefined ? 'next run' : `held: ${held}`;
    const share = `${Math.floor(percent)} %`;
    const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
    table.push([source, reason, first, last, rows.toLocaleString('en'), share, state]);
  }
  return table;
}
