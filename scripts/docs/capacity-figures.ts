// The inputs of docs/capacity.md: what was measured, what is assumed, and the sizes. Change these for a capacity of your own,
// and run `npm run docs`.

/** A quantity that was measured, with its command, at a115d1dc if it is one of the benchmark's. */
interface Measured {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly command: string;
}

const bench = (args: string) => `npm run bench -- ${args}`;
const COST = bench('cost --rows 10000000');

/** On 2 cores shared with other work, at a load average of 17; the keys at 2. */
export const MEASURED = {
  readMicros: {
    value: 23.3,
    unit: 'core µs',
    what: 'decoding of an event',
    command: COST,
  },
  insertMicros: {
    value: 22.1,
    unit: 'core µs',
    what: 'insert of an event, of 5,000',
    command: COST,
  },
  mergeMicros: {
    value: 5.9,
    unit: 'core µs',
    what: 'merge of an event',
    command: COST,
  },
  indexBytes: {
    value: 0.011,
    unit: 'bytes',
    what: 'memory of the engine’s index, per event',
    command: COST,
  },
  diskBytes: {
    value: 105,
    unit: 'bytes',
    what: 'disk of an event',
    command: bench('disk --rows 10000000'),
  },
  jsonBytes: {
    value: 1192,
    unit: 'bytes',
    what: 'JSON of the same event',
    command: bench('disk --rows 10000000'),
  },
  hitsPerSecond: {
    value: 17_629,
    unit: 'a second',
    what: 'cached answers of one process',
    command: bench('cached --rows 300000'),
  },
  keyBytes: {
    value: 183,
    unit: 'bytes',
    what: 'disk of a key in SQLite, with indexes',
    command: bench('keys'),
  },
  redisBytes: {
    value: 185,
    unit: 'bytes',
    what: 'memory of an entry in Redis 7.0, without its value',
    command: 'redis-cli debug populate 100000 <50 characters> 2000',
  },
} as const satisfies Record<string, Measured>;

/**
 * Core ms of a query on a project with so many rows a week; usage with a key that pins the project, and with one that does not.
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

/** Readers replace these by their own figures. */
export const ASSUMED = {
  retentionDays: { value: 90, unit: 'days', what: 'retention' },
  peakFactor: { value: 3, unit: 'times', what: 'peak of events, by the average' },
  copies: { value: 2, unit: '', what: 'copies of each shard' },
  rewrites: { value: 5, unit: 'times', what: 'rewrites of an event by merges, on each copy' },
  serverCores: { value: 16, unit: 'cores', what: 'a ClickHouse server' },
  serverMemoryBytes: { value: 64e9, unit: 'bytes', what: 'its memory' },
  serverDiskBytes: { value: 10e12, unit: 'bytes', what: 'its disk' },
  coresShare: { value: 0.5, unit: '', what: 'share of cores in use at peak' },
  diskShare: { value: 0.7, unit: '', what: 'share of the disk in use' },
  indexShare: { value: 0.25, unit: '', what: 'share of the memory for the index' },
  threads: { value: 8, unit: '', what: 'threads of a query (`max_threads`)' },
  activeShare: { value: 0.1, unit: '', what: 'active projects, as a share' },
  questionsPerProject: { value: 3, unit: '', what: 'answers of an active project (questions)' },
  warmingSeconds: { value: 300, unit: 's', what: 'warming: between two refreshes' },
  newestShare: { value: 0.2, unit: '', what: 'newest: share of requests for `logs.all`, never cached' },
  largestFactor: { value: 20, unit: 'times', what: 'rows of the largest project, by the average' },
  answerMillis: {
    value: 2,
    unit: 'core ms',
    what: 'core time of Tailrace for a new answer (1 to 3 measured)',
  },
  keysPerProject: { value: 3, unit: '', what: 'keys of a project' },
  databaseFactor: { value: 2, unit: 'times', what: 'disk of a key in PostgreSQL, by SQLite' },
  databaseAsksPerSecond: { value: 2, unit: 'a second', what: 'queries of a replica to PostgreSQL' },
  answerBytes: { value: 2_000, unit: 'bytes', what: 'a cached answer, compressed' },
  replicaMemoryBytes: {
    value: 1e9,
    unit: 'bytes',
    what: 'memory of a replica (limit in deploy/)',
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
