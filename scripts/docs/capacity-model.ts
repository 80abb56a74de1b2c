// The arithmetic of docs/capacity.md: what was measured, what is assumed, and one formula for each figure that follows.

/** A quantity that was measured, with the command that repeats it. */
interface Measured {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly command: string;
}

const bench = (args: string) => `npm run bench -- ${args}`;
export const COST = bench('cost --rows 10000000');

/** On 2 cores shared with other work; docs/performance.md has the load averages. */
export const MEASURED = {
  readMicros: {
    value: 23.3,
    unit: 'core µs',
    what: 'Tailrace reads an event, from its text to the engine’s format',
    command: COST,
  },
  insertMicros: {
    value: 22.1,
    unit: 'core µs',
    what: 'the engine stores an event, in inserts of 5,000',
    command: COST,
  },
  mergeMicros: {
    value: 5.9,
    unit: 'core µs',
    what: 'the engine writes an event once more, when it merges parts',
    command: COST,
  },
  indexBytes: {
    value: 0.011,
    unit: 'bytes',
    what: 'memory of the engine’s index, for each event of the gateway',
    command: COST,
  },
  diskBytes: {
    value: 105,
    unit: 'bytes',
    what: 'disk, for each event of all sources',
    command: bench('disk --rows 10000000'),
  },
  jsonBytes: {
    value: 1192,
    unit: 'bytes',
    what: 'the same event as JSON, as it is sent',
    command: bench('disk --rows 10000000'),
  },
  hitsPerSecond: {
    value: 17_629,
    unit: 'a second',
    what: 'answers from the cache, of one process',
    command: bench('cached --rows 300000'),
  },
  keyBytes: {
    value: 183,
    unit: 'bytes',
    what: 'disk of a key in SQLite, with its indexes',
    command: bench('keys'),
  },
  redisBytes: {
    value: 185,
    unit: 'bytes',
    what: 'memory of an entry in Redis 7.0, beside its value, with a key of 60 characters',
    command: 'redis-cli debug populate 100000 <50 characters> 2000',
  },
} as const satisfies Record<string, Measured>;

/**
 * Core ms of a question to a project of so many rows a week; usage for a key that pins the project, and for one that does not.
 * All of these projects are in one table.
 */
export const WEEKS = [
  { rows: 10_000, stats: 21.9, usage: 18.9, unpinned: 27.1, newest: 16.2 },
  { rows: 100_000, stats: 31.1, usage: 22, unpinned: 27.9, newest: 13.9 },
  { rows: 1_000_000, stats: 121, usage: 99.1, unpinned: 112, newest: 16.7 },
  { rows: 10_000_000, stats: 932, usage: 820, unpinned: 770, newest: 14.8 },
] as const;

interface Assumed {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
}

/** What a reader replaces by figures of his own. */
export const ASSUMED = {
  retentionDays: { value: 90, unit: 'days', what: 'how long events are kept: every source’s default' },
  peakFactor: { value: 3, unit: 'times', what: 'events at the busiest time, by the average' },
  copies: { value: 2, unit: '', what: 'copies of each shard, each on a server of its own' },
  rewrites: { value: 5, unit: 'times', what: 'merges of an event, on each copy, until its day is one part' },
  serverCores: { value: 16, unit: 'cores', what: 'a ClickHouse server' },
  serverMemoryBytes: { value: 64e9, unit: 'bytes', what: 'its memory' },
  serverDiskBytes: { value: 10e12, unit: 'bytes', what: 'its disk' },
  coresShare: { value: 0.5, unit: '', what: 'share of cores in use at the busiest time' },
  diskShare: { value: 0.7, unit: '', what: 'share of the disk in use; merges need the rest' },
  indexShare: { value: 0.25, unit: '', what: 'share of the memory for the index' },
  threads: { value: 8, unit: '', what: 'threads of one query: `max_threads` of the reader’s profile' },
  activeShare: { value: 0.1, unit: '', what: 'share of the projects that somebody looks at' },
  questionsPerProject: { value: 3, unit: '', what: 'kept answers of such a project in use' },
  warmingSeconds: { value: 300, unit: 's', what: 'between two refreshes of a kept answer' },
  newestShare: { value: 0.2, unit: '', what: 'share of requests for `logs.all`, whose answers are not kept' },
  largestFactor: { value: 20, unit: 'times', what: 'rows of the largest project, by the average one' },
  answerMillis: {
    value: 2,
    unit: 'core ms',
    what: 'of Tailrace for a new answer; 1 to 3 ms were measured over the engine alone',
  },
  keysPerProject: { value: 3, unit: '', what: 'keys of a project' },
  databaseFactor: { value: 2, unit: 'times', what: 'disk of a row in PostgreSQL, by that in SQLite' },
  databaseAsksPerSecond: { value: 2, unit: 'a second', what: 'queries of a replica to PostgreSQL' },
  answerBytes: { value: 2_000, unit: 'bytes', what: 'a kept answer, compressed' },
  replicaMemoryBytes: {
    value: 1e9,
    unit: 'bytes',
    what: 'memory of a replica of Tailrace: its limit in deploy/',
  },
} as const satisfies Record<string, Assumed>;

/** How much there is. */
export interface Scale {
  readonly name: string;
  readonly events: number;
  readonly projects: number;
  readonly requestsPerSecond: number;
}

export const SCALES: readonly Scale[] = [
  { name: '1 M', events: 1e6, projects: 10, requestsPerSecond: 1 },
  { name: '100 M', events: 1e8, projects: 100, requestsPerSecond: 10 },
  { name: '10 G', events: 1e10, projects: 1_000, requestsPerSecond: 300 },
  { name: '1 T', events: 1e12, projects: 20_000, requestsPerSecond: 10_000 },
];

/** One figure that follows from others. */
export interface Step {
  readonly name: string;
  readonly unit: 'a second' | 'bytes' | 'bytes a second' | 'cores' | 'rows' | 'ms' | '';
  /** In words, as the page shows it. */
  readonly formula: string;
  /** With the numbers of one scale put in. */
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

/** Core ms of statistics or usage of a week: the line through the least and the most rows that were measured. */
export function weekMs(kind: 'stats' | 'usage', rows: number): number {
  return FEW[kind] + (rows - FEW.rows) * rowMs(kind);
}

/** Core ms that usage costs for each row of anybody's week, for a key that pins no project: the index is looked at for all. */
export function unpinnedRowMs(): number {
  return (FEW.unpinned - FEW.usage) / WEEKS.reduce((sum, { rows }) => sum + rows, 0);
}

/** Core ms of one more row. */
export function rowMs(kind: 'stats' | 'usage'): number {
  return (MANY[kind] - FEW[kind]) / (MANY.rows - FEW.rows);
}

/** Every figure of a scale, in the order in which they follow from one another. */
export function reckon({ events, projects, requestsPerSecond }: Scale): Step[] {
  const load = reckonLoad(events, projects);
  const queries = reckonQueries({ projects, requestsPerSecond, rows: load.rows.value });
  const cores = step(
    'cores of ClickHouse in all',
    'cores',
    'inserts + merges + kept answers + newest entries',
    [[load.inserts.value, load.merges.value, queries.kept.value, queries.newest.value], sum, '+'],
  );
  const servers = reckonServers(events, load.disk.value, cores.value);
  const tailrace = reckonTailrace({
    projects,
    requestsPerSecond,
    peak: load.peak.value,
    asked: queries.asked.value,
    newAnswers: queries.newestRate.value,
  });
  return [...Object.values(load), ...Object.values(queries), cores, ...servers, ...tailrace];
}

function reckonLoad(events: number, projects: number) {
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

function reckonQueries(of: { projects: number; requestsPerSecond: number; rows: number }) {
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

function reckonServers(events: number, disk: number, cores: number): Step[] {
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

function reckonTailrace(of: {
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

/** A product, divided by another. */
function product(name: string, unit: Step['unit'], formula: string, [above, below = []]: Factors): Step {
  const multiply = (factors: readonly number[]) => factors.reduce((total, factor) => total * factor, 1);
  const under = below.length === 0 ? '' : ` ÷ ${below.map(plain).join(' ÷ ')}`;
  const numbers = `${above.map(plain).join(' × ')}${under}`;
  return { name, unit, formula, numbers, value: multiply(above) / multiply(below) };
}

/** The same, where only whole ones can be had. */
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
