// The arithmetic of docs/capacity.md: a formula for each figure derived from capacity-figures.ts.
import { ASSUMED, MEASURED, type Scale, WEEKS } from './capacity-figures.ts';

/** A derived figure. */
export interface Step {
  readonly name: string;
  readonly unit: 'a second' | 'bytes' | 'bytes a second' | 'cores' | 'rows' | 'ms' | '';
  /** The formula in words. */
  readonly formula: string;
  /** The formula with the numbers of one scale. */
  readonly numbers: string;
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

/** CPU ms of a week's statistics or usage: the line through the smallest and largest measured numbers of rows. */
export function weekMs(kind: 'stats' | 'usage', rows: number): number {
  return FEW[kind] + (rows - FEW.rows) * rowMs(kind);
}

/** CPU ms of usage per row of all projects, for a key that pins no project: the index is searched for all of them. */
export function unpinnedRowMs(): number {
  return (FEW.unpinned - FEW.usage) / WEEKS.reduce((sum, { rows }) => sum + rows, 0);
}

/** CPU ms of one more row. */
export function rowMs(kind: 'stats' | 'usage'): number {
  return (MANY[kind] - FEW[kind]) / (MANY.rows - FEW.rows);
}

/** All figures of a scale, in the order of their derivation. */
export function compute({ events, projects, requestsPerSecond }: Scale): Step[] {
  const load = computeLoad(events, projects);
  const queries = computeQueries({ projects, requestsPerSecond, rows: load.rows.value });
  const cores = step(
    'cores of ClickHouse in all',
    'cores',
    'inserts + merges + kept answers + newest entries',
    [[load.inserts.value, load.merges.value, queries.kept.value, queries.newest.value], sum, '+'],
  );
  const servers = computeServers(events, load.disk.value, cores.value);
  const tailrace = computeTailrace({
    projects,
    requestsPerSecond,
    peak: load.peak.value,
    asked: queries.asked.value,
    newAnswers: queries.newestRate.value,
  });
  return [...Object.values(load), ...Object.values(queries), cores, ...servers, ...tailrace];
}

function computeLoad(events: number, projects: number) {
  const mean = product('events, on average', 'a second', 'events ÷ (retention × 86,400)', [
    [events],
    [A.retentionDays, SECONDS_PER_DAY],
  ]);
  const peak = product('events, at the busiest time', 'a second', 'average × peak', [
    [mean.value, A.peakFactor],
  ]);
  return {
    mean,
    peak,
    sent: product('bytes sent to Tailrace then', 'bytes a second', 'busiest × JSON of an event', [
      [peak.value, M.jsonBytes],
    ]),
    disk: product('disk of one copy', 'bytes', 'events × disk of an event', [[events, M.diskBytes]]),
    inserts: product('cores that insert', 'cores', 'busiest × an insert ÷ 1,000,000', [
      [peak.value, M.insertMicros],
      [MICROS],
    ]),
    merges: product(
      'cores that merge, all copies',
      'cores',
      'average × a merge × rewrites × copies ÷ 1,000,000',
      [[mean.value, M.mergeMicros, A.rewrites, A.copies], [MICROS]],
    ),
    rows: product('rows of a project in a week', 'rows', 'events × 7 ÷ retention ÷ projects', [
      [events, DAYS_PER_WEEK],
      [A.retentionDays, projects],
    ]),
  };
}

function computeQueries(of: { projects: number; requestsPerSecond: number; rows: number }) {
  const asked = product('kept answers in use', '', 'projects × active × questions', [
    [of.projects, A.activeShare, A.questionsPerProject],
  ]);
  const refreshes = product('queries for kept answers', 'a second', 'kept answers ÷ warming', [
    [asked.value],
    [A.warmingSeconds],
  ]);
  const each = (weekMs('stats', of.rows) + weekMs('usage', of.rows)) / 2;
  const newest = product('queries for the newest entries', 'a second', 'requests × newest', [
    [of.requestsPerSecond, A.newestShare],
  ]);
  return {
    asked,
    refreshes,
    kept: product(
      'cores for kept answers',
      'cores',
      'queries × core ms of such a week, mean of statistics and usage ÷ 1,000',
      [[refreshes.value, each], [MILLIS]],
    ),
    newestRate: newest,
    newest: product('cores for the newest entries', 'cores', 'queries × their core ms ÷ 1,000', [
      [newest.value, NEWEST_MS],
      [MILLIS],
    ]),
    largest: step(
      'statistics of a week, largest project',
      'ms',
      'core ms of few rows + 20 × rows × core ms of a row ÷ threads',
      [[weekMs('stats', 0), (of.rows * A.largestFactor * rowMs('stats')) / A.threads], sum, '+'],
    ),
  };
}

function computeServers(events: number, disk: number, cores: number): Step[] {
  const byCores = whole('shards by cores', 'cores ÷ (16 × share) ÷ copies', [
    [cores],
    [A.serverCores, A.coresShare, A.copies],
  ]);
  const byDisk = whole('shards by disk', 'disk ÷ (10 TB × share)', [
    [disk],
    [A.serverDiskBytes, A.diskShare],
  ]);
  const byIndex = whole('shards by memory', 'events × index ÷ (64 GB × share)', [
    [events, M.indexBytes],
    [A.serverMemoryBytes, A.indexShare],
  ]);
  const shards = step('**shards**', '', 'the most of these', [
    [byCores.value, byDisk.value, byIndex.value],
    (values) => Math.max(...values),
    ',',
  ]);
  const servers = product('**ClickHouse servers**', '', 'shards × copies', [[shards.value, A.copies]]);
  return [byCores, byDisk, byIndex, shards, servers];
}

function computeTailrace(of: {
  projects: number;
  requestsPerSecond: number;
  peak: number;
  asked: number;
  newAnswers: number;
}): Step[] {
  const reading = product('cores of Tailrace that read events', 'cores', 'busiest × reading ÷ 1,000,000', [
    [of.peak, M.readMicros],
    [MICROS],
  ]);
  const answering = product(
    'cores of Tailrace for kept answers',
    'cores',
    'requests ÷ answers of one process',
    [[of.requestsPerSecond], [M.hitsPerSecond]],
  );
  const asking = product(
    'cores of Tailrace for new answers',
    'cores',
    'queries for the newest entries × 2 ÷ 1,000',
    [[of.newAnswers, A.answerMillis], [MILLIS]],
  );
  const wanted = (reading.value + answering.value + asking.value) / A.coresShare;
  const replicas: Step = {
    ...{ name: '**replicas of Tailrace**', unit: '' },
    formula: 'these three ÷ share, at least 2',
    numbers: `(${[reading, answering, asking].map((one) => plain(one.value)).join(' + ')}) ÷ ${A.coresShare}`,
    value: Math.max(REPLICAS_MIN, Math.ceil(wanted)),
  };
  return [
    reading,
    answering,
    asking,
    replicas,
    product('their memory', 'bytes', 'replicas × 1 GB', [[replicas.value, A.replicaMemoryBytes]]),
    product('PostgreSQL, disk', 'bytes', 'projects × keys × a key × 2', [
      [of.projects, A.keysPerProject, M.keyBytes, A.databaseFactor],
    ]),
    product('PostgreSQL, queries', 'a second', 'replicas × 2', [[replicas.value, A.databaseAsksPerSecond]]),
    product('Redis, memory', 'bytes', 'kept answers × (answer + entry)', [
      [of.asked, A.answerBytes + M.redisBytes],
    ]),
    product('Redis, commands', 'a second', 'kept answers ÷ warming × (replicas + 2)', [
      [of.asked, replicas.value + 2],
      [A.warmingSeconds],
    ]),
  ];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

type Factors = readonly [above: readonly number[], below?: readonly number[]];

/** A quotient of products. */
function product(name: string, unit: Step['unit'], formula: string, [above, below = []]: Factors): Step {
  const multiply = (factors: readonly number[]) => factors.reduce((total, factor) => total * factor, 1);
  const under = below.length === 0 ? '' : ` ÷ ${below.map(plain).join(' ÷ ')}`;
  const numbers = `${above.map(plain).join(' × ')}${under}`;
  return { name, unit, formula, numbers, value: multiply(above) / multiply(below) };
}

/** A quotient of products, rounded up. */
function whole(name: string, formula: string, factors: Factors): Step {
  const exact = product(name, '', formula, factors);
  return { ...exact, value: Math.ceil(exact.value) };
}

function step(
  name: string,
  unit: Step['unit'],
  formula: string,
  [values, of, sign]: readonly [readonly number[], (values: readonly number[]) => number, string],
): Step {
  const numbers = values.map(plain).join(sign === ',' ? ', ' : ` ${sign} `);
  return { name, unit, formula, numbers, value: of(values) };
}

/** Rounds to three significant digits, which is more than enough. */
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
