import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import Table from 'cli-table3';
import { median, quantile } from './measure.ts';

export type Goal = { readonly atLeast: number } | { readonly below: number };

/** One row of the table: a measured quantity, several times if possible. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** Of the same quantity. */
  readonly p99?: number;
  /** The goal for the median; a row without one is for comparison. */
  readonly goal?: Goal;
  /** The allowed growth with more rows: a factor; `rows`: the factor of the rows. */
  readonly growth?: number | 'rows';
  /** The load average of a minute at the start of its section, of other work; more than 1 marks the row. */
  readonly load?: number;
  /** Why it has no values. */
  readonly reason?: string;
}

/** Beside more load, times say less. */
export const LOAD_MAX = 1;

/** Something cannot be measured on this machine; its row has the message as the reason. */
export class Unmeasured extends Error {
  override readonly name = 'Unmeasured';
}

/** The row of something that is not measured. */
export function unmeasuredRow(name: string, reason: string): Row {
  say(`${name} is not measured: ${reason}`);
  return { name, unit: '', values: [], reason };
}

const MIB = 1024 * 1024;

/** A row with the median and p99 of single times, which are too many to be shown. */
export function timesRow(name: string, timesMs: readonly number[], rest: Partial<Row> = {}): Row {
  return { name, unit: 'ms', values: [median(timesMs)], p99: quantile(timesMs, 0.99), ...rest };
}

/** Reports progress on standard error; standard output gets the table alone. */
export function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

export function printTable(rows: readonly Row[]): void {
  process.stdout.write(`${describeRows(rows)}\n${describeMachine()}\n`);
}

export function describeRows(rows: readonly Row[]): string {
  const table = new Table({
    style: { head: [], border: [] },
    head: ['what', 'median', 'p99', 'all', 'unit', 'goal', 'reached'],
  });
  for (const row of rows) {
    const all = row.reason ?? (row.values.length > 1 ? row.values.map(round).join(' ') : '');
    const value = row.values.length === 0 ? '' : round(median(row.values));
    const p99 = row.p99 === undefined ? '' : round(row.p99);
    table.push([row.name, value, p99, all, row.unit, describeGoal(row), describeOutcome(row)]);
  }
  return table.toString();
}

export function writeJson(file: string, rows: readonly Row[]): void {
  const machine = { cores: availableParallelism(), memoryMiB: totalmem() / MIB, loadAverage: loadavg() };
  const results = rows.map((row) => ({
    ...row,
    median: median(row.values),
    reached: isReached(row),
    busy: (row.load ?? 0) > LOAD_MAX,
  }));
  writeFileSync(file, `${JSON.stringify({ machine, results }, undefined, 2)}\n`);
}

function describeGoal({ goal }: Row): string {
  if (goal === undefined) return '';
  return 'atLeast' in goal ? `≥ ${round(goal.atLeast)}` : `< ${round(goal.below)}`;
}

/** Whether the goal is reached, and a load average at which that says less. */
function describeOutcome(row: Row): string {
  const { load = 0 } = row;
  return [isReached(row), load > LOAD_MAX ? `load ${load.toFixed(1)}` : '']
    .filter((one) => one !== '')
    .join(', ');
}

function isReached({ goal, values }: Row): 'yes' | 'no' | '' {
  if (goal === undefined || values.length === 0) return '';
  const value = median(values);
  return ('atLeast' in goal ? value >= goal.atLeast : value < goal.below) ? 'yes' : 'no';
}

function describeMachine(): string {
  const load = loadavg().map((one) => one.toFixed(1));
  const memory = `${Math.round(totalmem() / MIB / 1024)} GiB`;
  return `${availableParallelism()} cores, ${memory}, load average ${load.join(' ')}, Node ${process.versions.node}`;
}

function round(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 });
}
