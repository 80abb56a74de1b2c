// The inputs of docs/capacity.md: measurements, assumptions, and the scales to compute. Change these for a
// plan of your own, and run `npm run docs`.

/** A measured quantity, with the command that repeats the measurement. */
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
 * CPU ms of a question about a project with so many rows a week; usage for a key that pins the project, and for one that does not.
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

/** Assumptions that readers replace by their own. */
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

/** A scale. */
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
