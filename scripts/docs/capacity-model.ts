// The arithmetic of docs/capacity.md: each figure that follows from those of capacity-figures.ts.
import { ASSUMED, MEASURED, type Scale, WEEKS } from './capacity-figures.ts';

/** One figure that follows from others. */
export interface Step {
  readonly name: string;
  readonly unit: 'a second' | 'bytes' | 'bytes a second' | 'cores' | 'rows' | 'ms' | '';
  readonly value: number;
}

const MICROS = 1e6;
const MILLIS = 1e3;
const SECONDS_PER_DAY = 86_400;
const DAYS_PER_WEEK = 7;
const REPLICAS_MIN = 2;

const M = mapValues(MEASURED);
const A = mapValues(ASSUMED);

const [FEW, , , MANY] = WEEKS;
const NEWEST_MS = WEEKS.reduce((sum, { newest }) => sum + newest, 0) / WEEKS.length;

/** Core ms of statistics or usage of a week: the line through the least and the most rows that were measured. */
export function weekMs(kind: 'stats' | 'usage', rows: number): number {
  return FEW[kind] + (rows - FEW.rows) * rowMs(kind);
}

/** Core ms that usage costs per row of the whole week if the key pins no project: the query reads the index of all of them. */
export function unpinnedRowMs(): number {
  return (FEW.unpinned - FEW.usage) / WEEKS.reduce((sum, { rows }) => sum + rows, 0);
}

/** Core ms of one more row. */
export function rowMs(kind: 'stats' | 'usage'): number {
  return (MANY[kind] - FEW[kind]) / (MANY.rows - FEW.rows);
}

/** Every figure of a scale, in the order in which they follow from one another. */
export function calculate({ events, projects, requestsPerSecond }: Scale): Step[] {
  const load = calculateLoad(events, projects);
  const queries = calculateQueries({ projects, requestsPerSecond, rows: load.rows.value });
  const cores: Step = {
    name: 'cores of ClickHouse in all',
    unit: 'cores',
    value: load.inserts.value + load.merges.value + queries.cached.value + queries.newest.value,
  };
  const servers = calculateServers(events, load.disk.value, cores.value);
  const tailrace = calculateTailrace({
    projects,
    requestsPerSecond,
    peak: load.peak.value,
    answers: queries.answers.value,
    newAnswers: queries.newestRate.value,
  });
  return [...Object.values(load), ...Object.values(queries), cores, ...servers, ...tailrace];
}

function calculateLoad(events: number, projects: number) {
  const mean = events / (A.retentionDays * SECONDS_PER_DAY);
  const peak = mean * A.peakFactor;
  return {
    mean: step('events, on average', 'a second', mean),
    peak: step('events, at the busiest time', 'a second', peak),
    sent: step('bytes sent to Tailrace then', 'bytes a second', peak * M.jsonBytes),
    disk: step('disk of one copy', 'bytes', events * M.diskBytes),
    inserts: step('cores that insert', 'cores', (peak * M.insertMicros) / MICROS),
    merges: step(
      'cores that merge, all copies',
      'cores',
      (mean * M.mergeMicros * A.rewrites * A.copies) / MICROS,
    ),
    rows: step(
      'rows of a project in a week',
      'rows',
      (events * DAYS_PER_WEEK) / (A.retentionDays * projects),
    ),
  };
}

function calculateQueries(of: { projects: number; requestsPerSecond: number; rows: number }) {
  const answers = of.projects * A.activeShare * A.questionsPerProject;
  const refreshes = answers / A.warmingSeconds;
  const each = (weekMs('stats', of.rows) + weekMs('usage', of.rows)) / 2;
  const newest = of.requestsPerSecond * A.newestShare;
  return {
    answers: step('cached answers in use', '', answers),
    refreshes: step('refreshes', 'a second', refreshes),
    cached: step('cores for cached answers', 'cores', (refreshes * each) / MILLIS),
    newestRate: step('queries for the newest entries', 'a second', newest),
    newest: step('cores for the newest entries', 'cores', (newest * NEWEST_MS) / MILLIS),
    largest: step(
      'statistics of a week, largest project',
      'ms',
      weekMs('stats', 0) + (of.rows * A.largestFactor * rowMs('stats')) / A.threads,
    ),
  };
}

function calculateServers(events: number, disk: number, cores: number): Step[] {
  const byCores = Math.ceil(cores / (A.serverCores * A.coresShare * A.copies));
  const byDisk = Math.ceil(disk / (A.serverDiskBytes * A.diskShare));
  const byIndex = Math.ceil((events * M.indexBytes) / (A.serverMemoryBytes * A.indexShare));
  const shards = Math.max(byCores, byDisk, byIndex);
  return [
    step('shards by cores', '', byCores),
    step('shards by disk', '', byDisk),
    step('shards by memory', '', byIndex),
    step('**shards**', '', shards),
    step('**ClickHouse servers**', '', shards * A.copies),
  ];
}

function calculateTailrace(of: {
  projects: number;
  requestsPerSecond: number;
  peak: number;
  answers: number;
  newAnswers: number;
}): Step[] {
  const decoding = (of.peak * M.readMicros) / MICROS;
  const hits = of.requestsPerSecond / M.hitsPerSecond;
  const misses = (of.newAnswers * A.answerMillis) / MILLIS;
  const replicas = Math.max(REPLICAS_MIN, Math.ceil((decoding + hits + misses) / A.coresShare));
  const keys = of.projects * A.keysPerProject;
  return [
    step('Tailrace: cores that decode events', 'cores', decoding),
    step('Tailrace: cores for cached answers', 'cores', hits),
    step('Tailrace: cores for new answers', 'cores', misses),
    step('**replicas of Tailrace**', '', replicas),
    step('their memory', 'bytes', replicas * A.replicaMemoryBytes),
    step('PostgreSQL, disk', 'bytes', keys * M.keyBytes * A.databaseFactor),
    step('PostgreSQL, queries', 'a second', replicas * A.databaseAsksPerSecond),
    step('Redis, memory', 'bytes', of.answers * (A.answerBytes + M.redisBytes)),
    step('Redis, commands', 'a second', (of.answers / A.warmingSeconds) * (replicas + 2)),
  ];
}

function step(name: string, unit: Step['unit'], value: number): Step {
  return { name, unit, value };
}

/** Three significant digits, which is more than any of these deserves. */
export function plain(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  if (digits > 0) return String(Number(value.toPrecision(3)));
  return Number(value.toPrecision(3)).toLocaleString('en');
}

function mapValues<T extends Readonly<Record<string, { readonly value: number }>>>(
  table: T,
): { readonly [K in keyof T]: number } {
  const entries = Object.entries(table).map(([name, { value }]) => [name, value]);
  return Object.fromEntries(entries) as { [K in keyof T]: number }; // the same names
}
