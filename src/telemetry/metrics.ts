import type { CacheOutcome, CacheStore } from '../cache/store.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoreSizes } from '../engine/store-state.ts';
import { OVERLOADS, type StoringWatch } from '../ingest/backpressure.ts';
import type { Committer } from '../ingest/committer.ts';
import { FILTER_RULES } from '../ingest/filter/filter.ts';
import type { EventCounts } from '../ingest/rejected.ts';
import type { ControlStore } from '../keys/control-store.ts';
import type { Retention } from '../maintenance/retention.ts';
import { createMetricRegistry, type LabelValues, type MetricRegistry } from './prometheus.ts';
import type { Counter } from './series.ts';

/** A counter: name, help, labels, and the values of its only label that are known at the start. */
type Definition = readonly [name: string, help: string, labels: readonly string[], known?: readonly string[]];

/** The counters, as Prometheus reads them; docs/metrics.md lists them. */
const COUNTERS = {
  requests: [
    'tailrace_http_requests_total',
    'Requests, by route, endpoint and status; 499: the client hung up.',
    ['route', 'endpoint', 'status'],
  ],
  rateLimited: [
    'tailrace_rate_limited_total',
    'Responses 429, by reason: key, address or quota.',
    ['reason'],
    ['key', 'address', 'quota'],
  ],
  rateHeldLocally: ['tailrace_rate_local_total', 'Requests limited without Redis.', []],
  connectionsDropped: ['tailrace_connections_dropped_total', 'Connections beyond the bound.', []],
  tailsEnded: [
    'tailrace_tails_ended_total',
    'Live tails that ended, by reason; left: by their reader.',
    ['reason'],
    ['left'],
  ],
  answers: [
    'tailrace_answers_total',
    'Answers, by endpoint and cache: hit, shared (by a replica), miss, collapsed, stale or bypass.',
    ['endpoint', 'cache'],
  ],
  failures: ['tailrace_failures_total', 'Failed calls, by endpoint and error code.', ['endpoint', 'code']],
  rows: ['tailrace_rows_returned_total', 'Rows returned, by endpoint.', ['endpoint']],
  queries: ['tailrace_engine_queries_total', 'Queries sent to the engine, by endpoint.', ['endpoint']],
  refreshes: [
    'tailrace_cache_refreshes_total',
    'Refreshes of warm answers, by endpoint and result: done or failed.',
    ['endpoint', 'result'],
  ],
  lookups: [
    'tailrace_shared_cache_lookups_total',
    'Look-ups in Redis, by result: hit, miss or taken (by another replica).',
    ['result'],
    ['hit', 'miss', 'taken'],
  ],
  sharedRejected: [
    'tailrace_shared_cache_rejected_total',
    'Entries in Redis that no replica had signed.',
    [],
  ],
  redisFailures: ['tailrace_redis_failures_total', 'Commands that Redis did not execute in time.', []],
  stored: ['tailrace_events_stored_total', 'Events stored, by source.', ['source']],
  rejected: ['tailrace_events_rejected_total', 'Events rejected, by source.', ['source']],
  withoutProject: [
    'tailrace_events_without_project_total',
    'Events stored without a project, by source.',
    ['source'],
  ],
  repaired: ['tailrace_events_repaired_total', 'Events stored with U+FFFD, by source.', ['source']],
  filtered: [
    'tailrace_events_filtered_total',
    'Events to which rules applied, by source and rule: drop or redact.',
    ['source', 'rule'],
  ],
  commits: ['tailrace_commits_total', 'Batches, by source and result: done or failed.', ['source', 'result']],
  overloads: [
    'tailrace_ingest_overloaded_total',
    'Requests with events rejected with 503, by reason: wait, engine, backlog or share.',
    ['reason'],
    OVERLOADS,
  ],
  daysDropped: [
    'tailrace_days_dropped_total',
    'Days dropped by retention, by reason: age or size.',
    ['reason'],
  ],
  taskFailures: ['tailrace_task_failures_total', 'Failures of repeated work, by task.', ['task']],
} as const satisfies Readonly<Record<string, Definition>>;

type Counters = {
  readonly [Name in keyof typeof COUNTERS]: Counter<LabelValues<(typeof COUNTERS)[Name][2]>>;
};

function createCounters({ counter }: MetricRegistry): Counters {
  const created = Object.entries<Definition>(COUNTERS).map(([key, [name, help, labels, known = []]]) => {
    const one = counter(name, help, labels);
    if (labels.length === 0) one.at();
    for (const value of known) one.at(value);
    return [key, one];
  });
  return Object.fromEntries(created) as Counters; // one for each entry, with its labels
}

/** The counts of the service: `Metrics` has each counter by its name in `COUNTERS`. */
export type Metrics = ReturnType<typeof createMetrics>;

/** @param now ms since the epoch */
export function createMetrics(now: () => number) {
  const registry = createMetricRegistry();
  const counters = createCounters(registry);
  let connections = 0;
  registry.gauge('tailrace_connections_open', 'Open connections.', () => connections);
  const requestDurations = registry.histogram(
    'tailrace_http_request_seconds',
    'Time from request to response, by route and endpoint.',
    ['route', 'endpoint'],
  );
  const queryDurations = registry.histogram(
    'tailrace_engine_query_seconds',
    'Time of a query in the engine, by endpoint.',
    ['endpoint'],
  );
  const lastFailures = new Map<string, { readonly code: string; readonly atMs: number }>();
  return {
    registry,
    ...counters,
    requestDurations,
    connectionOpened() {
      connections++;
    },
    connectionClosed() {
      connections--;
    },
    /** @param endpoint empty on other routes, and if the request failed before its endpoint was known */
    request(end: { route: string; endpoint: string; status: number; seconds: number }) {
      counters.requests.inc(end.route, end.endpoint, String(end.status));
      requestDurations.at(end.route, end.endpoint).observe(end.seconds);
    },
    served(endpoint: string, outcome: CacheOutcome, rows: number) {
      counters.answers.inc(endpoint, outcome);
      counters.rows.at(endpoint).value += rows;
    },
    failed(endpoint: string, code: string) {
      counters.failures.inc(endpoint, code);
      lastFailures.set(endpoint, { code, atMs: now() });
    },
    /** Only for the overview: Prometheus has no such type. */
    findLastFailure: (endpoint: string) => lastFailures.get(endpoint),
    queryDone: (endpoint: string, seconds: number) => queryDurations.at(endpoint).observe(seconds),
    refreshed: (endpoint: string, failed: boolean) =>
      counters.refreshes.inc(endpoint, failed ? 'failed' : 'done'),
    committed(source: string, rows: number, failed: boolean) {
      counters.commits.inc(source, failed ? 'failed' : 'done');
      if (!failed) counters.stored.at(source).value += rows;
    },
    /** Counts what became of the events of a request; `committed` counts those that are stored. */
    received(source: string, counts: Readonly<EventCounts>) {
      for (const name of ['rejected', 'withoutProject', 'repaired'] as const)
        if (counts[name] > 0) counters[name].at(source).value += counts[name];
      for (const rule of FILTER_RULES)
        if (counts[rule] > 0) counters.filtered.at(source, rule).value += counts[rule];
    },
  };
}

/** The parts of the service with a state that a scrape reads. */
export interface GaugedParts {
  readonly engine: Pick<Engine, 'gauges'>;
  readonly cache: CacheStore;
  readonly control: Pick<ControlStore, 'isUp'>;
  readonly tails: { readonly count: number };
  readonly committer: Pick<Committer, 'gauges'>;
  readonly retention: Pick<Retention, 'stopped'>;
  /** Whether Redis can be reached; `undefined` without one. */
  readonly isRedisUp: (() => boolean) | undefined;
  readonly backpressure: { readonly waitMs: number };
  /** The managed sources. */
  readonly sources: () => readonly Source[];
  /** Events that are not in their source's rollup yet, by source. */
  readonly rollupRowsLeft: () => ReadonlyMap<string, number>;
  readonly readSizes: () => Promise<StoreSizes | undefined>;
  /** Whether events can be stored. */
  readonly storing: Pick<StoringWatch, 'findProblem'>;
  /** Reads the free bytes on the disk of the data directory; `undefined` if unknown. */
  readonly readFreeBytes: () => Promise<number | undefined>;
  /** Versions of Tailrace, ClickHouse and Node. */
  readonly build: { readonly version: string; readonly engine: string; readonly node: string };
}

/** Exposes the state of the parts; docs/metrics.md lists each gauge. */
export function registerGauges(registry: MetricRegistry, parts: GaugedParts): void {
  const { gauge, expose } = registry;
  const { engine, cache, control, committer, backpressure, tails, build } = parts;
  gauge('tailrace_engine_up', '1 if the engine can be reached.', () => engine.gauges().state === 'up');
  expose({
    name: 'tailrace_engine_restarts_total',
    help: 'Restarts of the engine process.',
    type: 'counter',
    read: () => [{ labels: {}, value: engine.gauges().restarts }],
  });
  gauge(
    'tailrace_engine_memory_bytes',
    'Resident memory of the engine process.',
    () => engine.gauges().memoryBytes ?? 0,
  );
  gauge('tailrace_engine_running', 'Queries running in the engine.', () => engine.gauges().running);
  gauge('tailrace_engine_queued', 'Queries waiting for the engine.', () => engine.gauges().queued);
  gauge('tailrace_cache_entries', 'Answers in the cache.', () => cache.size);
  gauge('tailrace_cache_bytes', 'Bytes in the cache.', () => cache.calculatedSize);
  gauge('tailrace_tails_open', 'Live tails.', () => tails.count);
  gauge('tailrace_control_store_up', '1 if the store of keys can be reached.', () => control.isUp());
  gauge('tailrace_redis_up', '1 if Redis can be reached.', () => parts.isRedisUp?.() === true);
  const isStopped = () => parts.retention.stopped() !== undefined;
  gauge('tailrace_retention_stopped', '1 if retention has stopped, since the clock may be wrong.', isStopped);
  gauge('tailrace_ingest_queued_bytes', 'Events waiting to be stored.', () => committer.gauges().queuedBytes);
  const requests = () => committer.gauges().queuedRequests;
  gauge('tailrace_ingest_queued_requests', 'Requests waiting for a commit.', requests);
  gauge('tailrace_ingest_wait_seconds', 'Estimated wait of events.', () => backpressure.waitMs / 1000);
  const isStoring = async () => (await parts.storing.findProblem()) === undefined;
  gauge('tailrace_storing', '0 if the disk is full.', isStoring);
  const ofSources = (name: 'rows' | 'bytes') => async () => {
    const sizes = await parts.readSizes();
    return (
      sizes && parts.sources().map((one) => [one.name, sizes.tables.get(one.table)?.[name] ?? 0] as const)
    );
  };
  gauge('tailrace_stored_rows', 'Events stored, by source.', ofSources('rows'), 'source');
  gauge('tailrace_stored_bytes', 'Bytes on disk, by source.', ofSources('bytes'), 'source');
  const { rollupRowsLeft } = parts;
  gauge('tailrace_rollup_rows_left', 'Events not yet in a new rollup, by source.', rollupRowsLeft, 'source');
  gauge('tailrace_disk_free_bytes', 'Free bytes of the data directory’s disk.', parts.readFreeBytes);
  expose({
    name: 'tailrace_build_info',
    help: 'Always 1; labels: version, engine, node.',
    type: 'gauge',
    read: () => [{ labels: build, value: 1 }],
  });
}
