import { availableParallelism, loadavg, totalmem } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { formatTable } from '../src/cli/format.ts';

export interface BenchOptions {
  readonly rows: number;
  readonly minutes: number;
  readonly times: number;
  readonly requests: number;
  /** The commit that `guard` compares with; default: the newest release. */
  readonly against?: string;
  /** Parts of sections; empty: all. */
  readonly only: readonly string[];
}

/** A section of the benchmark: reports progress on standard error and returns its rows. */
export type Section = (options: BenchOptions) => Promise<Row[]>;

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
  /** The load average of a minute at the start of its section; more than `LOAD_MAX` marks the row. */
  readonly load?: number;
  /** Why it has no values. */
  readonly reason?: string;
}

/** Beside more load, times say less. */
const LOAD_MAX = 1;
const MIB = 1024 * 1024;

/** Something cannot be measured on this machine; its row has the message as the reason. */
export class Unmeasured extends Error {
  override readonly name = 'Unmeasured';
}

/** The quantile of a share from 0 to 1; NaN of no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A row with the median and p99 of single times, which are too many to be shown. */
export function timesRow(name: string, timesMs: readonly number[], rest: Partial<Row> = {}): Row {
  return { name, unit: 'ms', values: [median(timesMs)], p99: quantile(timesMs, 0.99), ...rest };
}

/** Reports progress on standard error; standard output gets only the table. */
export function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

export function printTable(rows: readonly Row[]): void {
  const head = ['what', 'median', 'p99', 'unit', 'goal', 'reached', 'all'];
  const lines = rows.map((row) => {
    const { name, unit, values, load = 0 } = row;
    const all = row.reason ?? (values.length > 1 ? values.map(round).join(' ') : '');
    const value = values.length === 0 ? '' : round(median(values));
    const p99 = row.p99 === undefined ? '' : round(row.p99);
    const busy = load > LOAD_MAX ? `load ${load.toFixed(1)}` : '';
    const outcome = [isReached(row), busy].filter((one) => one !== '').join(', ');
    return [name, value, p99, unit, describeGoal(row), outcome, all];
  });
  const load = loadavg().map((one) => one.toFixed(1));
  const memory = `${Math.round(totalmem() / MIB / 1024)} GiB`;
  const machine = `${availableParallelism()} cores, ${memory}, load average ${load.join(' ')}`;
  process.stdout.write(`${formatTable(head, lines)}\n${machine}, Node ${process.versions.node}\n`);
}

function describeGoal({ goal }: Row): string {
  if (goal === undefined) return '';
  return 'atLeast' in goal ? `≥ ${round(goal.atLeast)}` : `< ${round(goal.below)}`;
}

function isReached({ goal, values }: Row): 'yes' | 'no' | '' {
  if (goal === undefined || values.length === 0) return '';
  const value = median(values);
  return ('atLeast' in goal ? value >= goal.atLeast : value < goal.below) ? 'yes' : 'no';
}

function round(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 });
}

const POLL_EVERY_MS = 5_000;

/** Samples resident memory, MB, every five seconds during `work`. */
export async function sampleRss<T>(
  rssMb: () => number,
  work: () => Promise<T>,
): Promise<{ rss: readonly number[]; result: T }> {
  const done = new AbortController();
  const rss: number[] = [];
  async function poll(): Promise<void> {
    while (!done.signal.aborted) {
      rss.push(rssMb());
      say(`memory: ${Math.round(rss.at(-1) ?? 0)} MB`);
      await wait(POLL_EVERY_MS, undefined, { signal: done.signal }).catch(() => {});
    }
  }
  const polling = poll();
  try {
    return { rss, result: await work() };
  } finally {
    done.abort();
    await polling;
  }
}

/** The maximum and the trend: caches fill in the first third; a leak would show between the other two. */
export function rssRows(name: string, rss: readonly number[], belowMb: number): Row[] {
  const third = Math.floor(rss.length / 3);
  const thirds = [0, 1, 2].map((i) => median(rss.slice(i * third, i * third + Math.max(third, 1))));
  return [
    { name: `${name}: most`, unit: 'MB', values: [Math.max(...rss)], goal: { below: belowMb } },
    { name: `${name}: median of each third`, unit: 'MB', values: thirds },
    { name: `${name}: last third / second`, unit: 'ratio', values: [(thirds[2] ?? 0) / (thirds[1] ?? 1)] },
  ];
}
