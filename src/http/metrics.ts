// Longer than other files: every metric of docs/operating.md, made in one place and read against that table.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RefreshExtent } from '../cache/incremental.ts';
import type { Lookup } from '../cache/shared/flight.ts';
import type { CacheOutcome, CacheStore } from '../cache/store.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Engine } from '../engine/engine.ts';
import type { Committer } from '../ingest/committer.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { CLOSED_REASONS, type ClosedReason } from './connections.ts';
import { countLatency, createLatencies, type Latencies } from './latency.ts';
import { type Add, createCounts, createTimes } from './series.ts';

/** What is counted, under the names of docs/operating.md. */
export interface Metrics extends QueryMetrics, SharedMetrics, IngestMetrics {
  /** `endpoint` is empty on other routes, and where the call failed before its endpoint was known. */
  request(request: { route: string; endpoint: string; status: number; seconds: number }): void;
  /** A request was answered 429: its key's rate, or refused keys from its address. */
  rateLimited(reason: 'key' | 'address'): void;
  /** A request was held against the rate that this replica alone knows of: what all share was away. */
  rateHeldLocally(): void;
  /** Connections open now. */
  connectionsOpen(count: number): void;
  /** A connection was closed by a bound on connections. */
  connectionClosed(reason: ClosedReason): void;
  /** The series of a metric as they stand now; none where it does not exist. */
  read(name: string): Promise<readonly MetricValue[]>;
  /** Endpoint → how long its requests took, finer than Prometheus' buckets. The counts go on rising. */
  latencies(): Iterable<readonly [endpoint: string, Latencies]>;
  readonly contentType: string;
  /** In Prometheus' text format. */
  render(): Promise<string>;
}

/** One series of a metric; `metricName` tells those of a histogram apart. */
export interface MetricValue {
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

interface QueryMetrics {
  served(endpoint: string, outcome: CacheOutcome, rows: number): void;
  failed(endpoint: string, code: string): void;
  queryStarted(endpoint: string): void;
  queryDone(endpoint: string, seconds: number): void;
  refreshed(endpoint: string, failed: boolean): void;
  /** A kept answer with buckets was made anew, some of its buckets or all. */
  recomputed(endpoint: Pick<Endpoint, 'name'>, extent: RefreshExtent): void;
}

/** Of what replicas share. */
interface SharedMetrics {
  redisUp(isUp: boolean): void;
  redisFailed(): void;
  sharedLookup(result: Lookup): void;
  /** Something stood in the place of a shared answer that no replica put there. */
  sharedRefused(): void;
}

interface IngestMetrics {
  committed(source: string, rows: number, failed: boolean): void;
  refused(source: string, count: number): void;
  /** Events that belong to no project were stored. */
  withoutProject(source: string, count: number): void;
  dayDropped(reason: string): void;
  /** @param reasons why retention has stopped; none while it goes on */
  retentionStopped(reasons: readonly string[]): void;
  requestNotRecorded(): void;
  /** An answer to an Idempotency-Key could not be looked up or kept. */
  unremembered(): void;
}

/** Parts whose state is read when metrics are asked for. */
interface Gauged extends StoreGauges {
  readonly engine: Engine;
  readonly cache: CacheStore;
  readonly control: Pick<ControlStore, 'isUp'>;
  readonly ingest: () => ReturnType<Committer['gauges']>;
}

/** The store and the disk below it. */
export interface StoreGauges {
  /** What each source holds, by its name; none where the engine has not said it. */
  readonly readSources: () => Promise<readonly SourceSize[]>;
  /** On the disk of the data directory; `undefined` where nobody knows. */
  readonly readFreeBytes: () => Promise<number | undefined>;
  readonly build: BuildInfo;
}

export interface SourceSize {
  readonly source: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Versions of what runs. */
interface BuildInfo {
  readonly version: string;
  readonly engine: string;
  readonly node: string;
}

const SECONDS = [
  0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Read by the overview, too. */
export const WITHOUT_PROJECT = 'tailrace_events_without_project_total';

type Maker = ReturnType<typeof createMaker>;

/** A registry of its own for each service, so that two in one process do not share counts. */
export function createMetrics(parts: Gauged): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry }); // event loop delay, memory, garbage collection
  const make = createMaker(registry);
  const requests = createCounts({
    registry,
    name: 'tailrace_http_requests_total',
    help: 'Requests by route, endpoint and status.',
    labelNames: ['route', 'endpoint', 'status'],
  });
  const durations = createTimes(
    {
      registry,
      name: 'tailrace_http_request_seconds',
      help: 'Time from request to answer.',
      labelNames: ['route', 'endpoint'],
    },
    SECONDS,
  );
  const limited = make.counter('tailrace_rate_limited_total', 'Requests answered 429, by reason.', [
    'reason',
  ]);
  for (const reason of ['key', 'address']) limited.inc({ reason }, 0); // there to be watched before the first
  const heldLocally = make.counter(
    'tailrace_rate_local_total',
    'Requests held against a rate of this replica alone, since Redis was away.',
    [],
  );
  const latencies = new Map<string, Latencies>();
  makeGauges(make, parts);
  makeStoreGauges(make, parts);
  return {
    ...createConnectionMetrics(make),
    ...createQueryMetrics(make, registry),
    ...createSharedMetrics(make),
    ...createIngestMetrics(make),
    request: createRequestCount(requests, durations, latencies),
    latencies: () => latencies,
    rateLimited: (reason) => limited.inc({ reason }),
    rateHeldLocally: () => heldLocally.inc(),
    read: async (name) => (await registry.getSingleMetric(name)?.get())?.values ?? [],
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}

/** A few dozen series see every request. They are found label by label: putting a text together to find them by takes longer. */
function createRequestCount(
  requests: (labels: { route: string; endpoint: string; status: string }) => Add,
  times: (labels: { route: string; endpoint: string }) => Add,
  latencies: Map<string, Latencies>,
): Metrics['request'] {
  const timeOf = remembering((route: string) =>
    remembering((endpoint: string) => times({ route, endpoint })),
  );
  const latenciesOf = remembering((endpoint: string) => {
    const counts = createLatencies();
    latencies.set(endpoint, counts);
    return counts;
  });
  const countOf = remembering((route: string) =>
    remembering((endpoint: string) =>
      remembering((status: number) => requests({ route, endpoint, status: String(status) })),
    ),
  );
  return ({ route, endpoint, status, seconds }) => {
    countOf(route)(endpoint)(status)(1);
    timeOf(route)(endpoint)(seconds);
    if (endpoint !== '') countLatency(latenciesOf(endpoint), seconds);
  };
}

/** The same for answers. */
function createServedCount(
  answers: (labels: { endpoint: string; cache: string }) => Add,
  rows: (labels: { endpoint: string }) => Add,
): QueryMetrics['served'] {
  const rowsOf = remembering((endpoint: string) => rows({ endpoint }));
  const answersOf = remembering((endpoint: string) =>
    remembering((cache: CacheOutcome) => answers({ endpoint, cache })),
  );
  return (endpoint, outcome, count) => {
    answersOf(endpoint)(outcome)(1);
    rowsOf(endpoint)(count);
  };
}

/** What `make` makes of a label, made once. */
function remembering<Label, T extends NonNullable<unknown>>(make: (label: Label) => T): (label: Label) => T {
  const made = new Map<Label, T>();
  return (label) => {
    const known = made.get(label);
    if (known !== undefined) return known;
    const fresh = make(label);
    made.set(label, fresh);
    return fresh;
  };
}

type Collect = (this: Gauge) => Promise<void>;

function createMaker(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[]) =>
      new Histogram({ name, help, labelNames, buckets: SECONDS, registers }),
    /** A count that is kept elsewhere. */
    countOf: (name: string, help: string, read: () => number) =>
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    labelled: (name: string, help: string, labelNames: string[], collect?: Collect) =>
      new Gauge({ name, help, labelNames, registers, ...(collect && { collect }) }),
  };
}

function createConnectionMetrics({ counter, gauge }: Maker) {
  let open = 0;
  gauge('tailrace_connections_open', 'Connections of clients.', () => open);
  const closed = counter('tailrace_connections_closed_total', 'Connections closed by a bound, by reason.', [
    'reason',
  ]);
  for (const reason of CLOSED_REASONS) closed.inc({ reason }, 0);
  return {
    connectionsOpen(count: number) {
      open = count;
    },
    connectionClosed: (reason: ClosedReason) => closed.inc({ reason }),
  };
}

function createQueryMetrics({ counter, histogram }: Maker, registry: Registry): QueryMetrics {
  const answers = createCounts({
    registry,
    name: 'tailrace_answers_total',
    help: 'Answers by endpoint and cache outcome.',
    labelNames: ['endpoint', 'cache'],
  });
  const failures = counter('tailrace_failures_total', 'Failed calls by endpoint and error code.', [
    'endpoint',
    'code',
  ]);
  const rows = createCounts({
    registry,
    name: 'tailrace_rows_returned_total',
    help: 'Rows returned by endpoint.',
    labelNames: ['endpoint'],
  });
  const queries = counter('tailrace_engine_queries_total', 'Queries handed to the engine.', ['endpoint']);
  const engineTime = histogram('tailrace_engine_query_seconds', 'Time of a query inside the engine.', [
    'endpoint',
  ]);
  const refreshes = counter('tailrace_cache_refreshes_total', 'Refreshes of warm answers.', [
    'endpoint',
    'result',
  ]);
  const extents = counter(
    'tailrace_cache_recomputed_total',
    'Kept answers with buckets that were made anew, by extent.',
    ['endpoint', 'extent'],
  );
  return {
    served: createServedCount(answers, rows),
    failed: (endpoint, code) => failures.inc({ endpoint, code }),
    queryStarted: (endpoint) => queries.inc({ endpoint }),
    queryDone: (endpoint, seconds) => engineTime.observe({ endpoint }, seconds),
    recomputed: ({ name: endpoint }, extent) => extents.inc({ endpoint, extent }),
    refreshed: (endpoint, failed) => refreshes.inc({ endpoint, result: failed ? 'failed' : 'done' }),
  };
}

function createSharedMetrics({ counter, gauge }: Maker): SharedMetrics {
  let up = 0;
  gauge('tailrace_redis_up', 'Whether the connection to Redis stands, 1 or 0.', () => up);
  const failures = counter('tailrace_redis_failures_total', 'Commands that Redis did not answer.', []);
  const lookups = counter('tailrace_shared_cache_lookups_total', 'Answers asked of other replicas.', [
    'result',
  ]);
  for (const result of ['hit', 'miss', 'taken']) lookups.inc({ result }, 0);
  const refused = counter('tailrace_shared_cache_refused_total', 'Shared answers that were none.', []);
  return {
    redisUp(isUp) {
      up = Number(isUp);
    },
    redisFailed: () => failures.inc(),
    sharedLookup: (result) => lookups.inc({ result }),
    sharedRefused: () => refused.inc(),
  };
}

function createIngestMetrics({ counter, labelled }: Maker): IngestMetrics {
  const events = counter('tailrace_events_stored_total', 'Events stored, by source.', ['source']);
  const refusals = counter('tailrace_events_refused_total', 'Events refused, by source.', ['source']);
  const unowned = counter(WITHOUT_PROJECT, 'Events stored that belong to no project, by source.', ['source']);
  const commits = counter('tailrace_commits_total', 'Groups of events committed, by source.', [
    'source',
    'result',
  ]);
  const days = counter('tailrace_days_dropped_total', 'Days of a table dropped by retention.', ['reason']);
  const stopped = labelled(
    'tailrace_retention_stopped',
    'Whether retention has stopped, by reason: 1 or 0.',
    ['reason'],
  );
  const setStopped = (reasons: readonly string[]) => {
    for (const reason of ['clock', 'share']) stopped.set({ reason }, reasons.includes(reason) ? 1 : 0);
  };
  setStopped([]);
  const notRecorded = counter(
    'tailrace_requests_not_recorded_total',
    'Own requests that could not be stored.',
    [],
  );
  const unremembered = counter(
    'tailrace_idempotency_failures_total',
    'Idempotency-Keys that could not be looked up or kept.',
    [],
  );
  return {
    committed(source, count, failed) {
      commits.inc({ source, result: failed ? 'failed' : 'done' });
      if (!failed) events.inc({ source }, count);
    },
    refused: (source, count) => refusals.inc({ source }, count),
    withoutProject: (source, count) => unowned.inc({ source }, count),
    dayDropped: (reason) => days.inc({ reason }),
    retentionStopped: setStopped,
    requestNotRecorded: () => notRecorded.inc(),
    unremembered: () => unremembered.inc(),
  };
}

function makeGauges({ gauge, countOf }: Maker, { engine, cache, control, ingest }: Gauged): void {
  gauge('tailrace_engine_up', 'Whether the engine can be reached: 1 or 0.', () =>
    Number(engine.gauges().state === 'up'),
  );
  countOf(
    'tailrace_engine_restarts_total',
    'Times that the engine process was started again.',
    () => engine.gauges().restarts,
  );
  gauge(
    'tailrace_engine_memory_bytes',
    'Resident memory of the engine process.',
    () => engine.gauges().memoryBytes ?? 0,
  );
  gauge('tailrace_engine_running', 'Queries running in the engine.', () => engine.gauges().running);
  gauge('tailrace_engine_queued', 'Queries waiting for the engine.', () => engine.gauges().queued);
  gauge('tailrace_cache_entries', 'Answers in the cache.', () => cache.size);
  gauge('tailrace_cache_bytes', 'Bytes of the answers in the cache.', () => cache.bytes);
  gauge('tailrace_control_store_up', '1, or 0 while it is away.', () => (control.isUp() ? 1 : 0));
  gauge('tailrace_ingest_queued_bytes', 'Events waiting to be stored.', () => ingest().queuedBytes);
  gauge('tailrace_ingest_queued_requests', 'Requests waiting for a commit.', () => ingest().queuedRequests);
}

/** What is stored, on what is left of the disk, by which versions. */
function makeStoreGauges({ labelled }: Maker, { readSources, readFreeBytes, build }: StoreGauges): void {
  const ofSource = (name: string, help: string, read: (size: SourceSize) => number) =>
    labelled(name, help, ['source'], async function collect() {
      const sizes = await readSources();
      this.reset(); // a source that has gone from the definitions goes from here
      for (const size of sizes) this.set({ source: size.source }, read(size));
    });
  ofSource('tailrace_stored_rows', 'Events stored, by source.', ({ rows }) => rows);
  ofSource('tailrace_stored_bytes', 'Bytes of the events on disk, by source.', ({ bytes }) => bytes);
  labelled(
    'tailrace_disk_free_bytes',
    'Free bytes on the disk of the data directory.',
    [],
    async function () {
      const freeBytes = await readFreeBytes();
      if (freeBytes === undefined) this.reset();
      else this.set(freeBytes);
    },
  );
  const names = ['version', 'engine', 'node'];
  labelled('tailrace_build_info', 'Versions of what runs, as labels; always 1.', names).set({ ...build }, 1);
}
