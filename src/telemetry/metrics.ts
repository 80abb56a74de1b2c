import type { CacheOutcome } from '../cache/store.ts';
import { OVERLOADS } from '../ingest/backpressure.ts';
import { createMetricRegistry, type MetricRegistry } from './prometheus.ts';

/**
 * The counts of the service. Each metric is defined here once, with the name, the help and the labels under which
 * Prometheus reads it; docs/metrics.md lists them. Members that end in `Counts` or `Durations` are read by the
 * overview, the others record.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** @param now ms since the epoch */
export function createMetrics(now: () => number) {
  const registry = createMetricRegistry();
  return {
    registry,
    contentType: registry.contentType,
    /** Returns all metrics in Prometheus' text format. */
    render: registry.render,
    ...createRequestMetrics(registry),
    ...createQueryMetrics(registry, now),
    ...createSharedMetrics(registry),
    ...createIngestMetrics(registry),
    ...createTaskMetrics(registry),
  };
}

function createRequestMetrics({ counter, unlabelledCounter, gauge, histogram }: MetricRegistry) {
  const requestCounts = counter(
    'tailrace_http_requests_total',
    'Requests, by route, endpoint and status; 499: the client hung up.',
    ['route', 'endpoint', 'status'],
  );
  const requestDurations = histogram(
    'tailrace_http_request_seconds',
    'Time from request to response, by route and endpoint.',
    ['route', 'endpoint'],
  );
  const limited = counter('tailrace_rate_limited_total', 'Responses 429, by reason: key, address or quota.', [
    'reason',
  ]);
  for (const reason of ['key', 'address', 'quota'] as const) limited.at(reason);
  // The hot path: a request finds its series without label objects, and without keys built from labels.
  const seriesOf = memoize((route: string) =>
    memoize((endpoint: string) => ({
      countOf: memoize((status: number) => requestCounts.at(route, endpoint, String(status))),
      durations: requestDurations.at(route, endpoint),
    })),
  );
  const tailsEnded = counter(
    'tailrace_tails_ended_total',
    'Live tails that ended, by reason; left: by their reader.',
    ['reason'],
  );
  tailsEnded.at('left');
  let open = 0;
  gauge('tailrace_connections_open', 'Open connections.', () => open);
  return {
    requestCounts,
    requestDurations,
    /** @param endpoint empty on other routes, and if the request failed before its endpoint was known */
    request(end: { route: string; endpoint: string; status: number; seconds: number }) {
      const { countOf, durations } = seriesOf(end.route)(end.endpoint);
      countOf(end.status).inc();
      durations.observe(end.seconds);
    },
    /** Counts a response 429: for the rate of the key, or for rejected keys from the address. */
    rateLimited: limited.inc,
    /** Counts a request whose rate only this replica knew: Redis was unavailable. */
    rateHeldLocally: unlabelledCounter('tailrace_rate_local_total', 'Requests limited without Redis.').inc,
    connectionOpened() {
      open++;
    },
    connectionClosed() {
      open--;
    },
    /** Counts a connection beyond the bound. */
    connectionDropped: unlabelledCounter(
      'tailrace_connections_dropped_total',
      'Connections beyond the bound.',
    ).inc,
    /** Counts a live tail that has ended. */
    tailEnded: tailsEnded.inc,
  };
}

function createQueryMetrics({ counter, histogram }: MetricRegistry, now: () => number) {
  const answerCounts = counter(
    'tailrace_answers_total',
    'Answers, by endpoint and cache: hit, shared (by a replica), miss, collapsed, stale or bypass.',
    ['endpoint', 'cache'],
  );
  const failureCounts = counter('tailrace_failures_total', 'Failed calls, by endpoint and error code.', [
    'endpoint',
    'code',
  ]);
  const rowCounts = counter('tailrace_rows_returned_total', 'Rows returned, by endpoint.', ['endpoint']);
  const started = counter('tailrace_engine_queries_total', 'Queries sent to the engine, by endpoint.', [
    'endpoint',
  ]);
  const durations = histogram(
    'tailrace_engine_query_seconds',
    'Time of a query in the engine, by endpoint.',
    ['endpoint'],
  );
  const refreshes = counter(
    'tailrace_cache_refreshes_total',
    'Refreshes of warm answers, by endpoint and result: done or failed.',
    ['endpoint', 'result'],
  );
  const seriesOf = memoize((endpoint: string) => ({
    countOf: memoize((outcome: CacheOutcome) => answerCounts.at(endpoint, outcome)),
    rows: rowCounts.at(endpoint),
  }));
  const lastFailures = new Map<string, { readonly code: string; readonly atMs: number }>();
  return {
    answerCounts,
    failureCounts,
    rowCounts,
    /** Only for the overview: Prometheus has no such type. */
    findLastFailure: (endpoint: string) => lastFailures.get(endpoint),
    served(endpoint: string, outcome: CacheOutcome, rows: number) {
      const series = seriesOf(endpoint);
      series.countOf(outcome).inc();
      series.rows.add(rows);
    },
    failed(endpoint: string, code: string) {
      failureCounts.inc(endpoint, code);
      lastFailures.set(endpoint, { code, atMs: now() });
    },
    queryStarted: started.inc,
    queryDone: (endpoint: string, seconds: number) => durations.at(endpoint).observe(seconds),
    refreshed: (endpoint: string, failed: boolean) => refreshes.inc(endpoint, failed ? 'failed' : 'done'),
  };
}

/** Creates the metrics of what replicas share. */
function createSharedMetrics({ counter, unlabelledCounter, gauge }: MetricRegistry) {
  let isRedisUp = false;
  gauge('tailrace_redis_up', '1 if Redis can be reached.', () => Number(isRedisUp));
  const lookups = counter(
    'tailrace_shared_cache_lookups_total',
    'Look-ups in Redis, by result: hit, miss or taken (by another replica).',
    ['result'],
  );
  for (const result of ['hit', 'miss', 'taken'] as const) lookups.at(result);
  return {
    redisUp(isUp: boolean) {
      isRedisUp = isUp;
    },
    redisFailed: unlabelledCounter(
      'tailrace_redis_failures_total',
      'Commands that Redis did not execute in time.',
    ).inc,
    sharedLookup: lookups.inc,
    /** Counts an entry in Redis that was not an answer written by a replica. */
    sharedRejected: unlabelledCounter(
      'tailrace_shared_cache_rejected_total',
      'Entries in Redis that no replica had signed.',
    ).inc,
  };
}

function createIngestMetrics({ counter, gauge }: MetricRegistry) {
  const storedCounts = counter('tailrace_events_stored_total', 'Events stored, by source.', ['source']);
  const refused = counter('tailrace_events_refused_total', 'Events rejected, by source.', ['source']);
  const withoutProjectCounts = counter(
    'tailrace_events_without_project_total',
    'Events stored without a project, by source.',
    ['source'],
  );
  const repaired = counter('tailrace_events_repaired_total', 'Events stored with U+FFFD, by source.', [
    'source',
  ]);
  const filtered = counter(
    'tailrace_events_filtered_total',
    'Events to which rules applied, by source and rule: drop or redact.',
    ['source', 'rule'],
  );
  const commits = counter('tailrace_commits_total', 'Batches, by source and result: done or failed.', [
    'source',
    'result',
  ]);
  const overloads = counter(
    'tailrace_ingest_overloaded_total',
    'Requests with events rejected with 503, by reason: wait, engine, backlog or share.',
    ['reason'],
  );
  for (const reason of OVERLOADS) overloads.at(reason);
  const dropped = counter(
    'tailrace_days_dropped_total',
    'Days dropped by retention, by reason: age or size.',
    ['reason'],
  );
  let isStopped = false;
  gauge('tailrace_retention_stopped', '1 if retention has stopped, since the clock may be wrong.', () => [
    { labels: {}, value: Number(isStopped) },
  ]);
  return {
    storedCounts,
    withoutProjectCounts,
    committed(source: string, rows: number, failed: boolean) {
      commits.inc(source, failed ? 'failed' : 'done');
      if (!failed) storedCounts.at(source).add(rows);
    },
    /** Counts a request with events that was rejected for now. */
    overloaded: overloads.inc,
    refused: (source: string, count: number) => refused.at(source).add(count),
    /** Counts stored events that belong to no project. */
    withoutProject: (source: string, count: number) => withoutProjectCounts.at(source).add(count),
    repaired: (source: string, count: number) => repaired.at(source).add(count),
    filtered(source: string, counts: Readonly<Record<string, number>>) {
      for (const [rule, count] of Object.entries(counts)) if (count > 0) filtered.at(source, rule).add(count);
    },
    dayDropped: dropped.inc,
    retentionStopped(is: boolean) {
      isStopped = is;
    },
  };
}

/** Creates the metrics of repeated work (lib/task.ts). */
function createTaskMetrics({ counter }: MetricRegistry) {
  const failures = counter('tailrace_task_failures_total', 'Failures of repeated work, by task.', ['task']);
  return {
    /** Creates the series of a task: Prometheus sees only increases of series that it knows. */
    taskStarted: (task: string) => void failures.at(task),
    taskFailed: failures.inc,
  };
}

/** Calls `create` once for each key, and keeps the result. The number of routes, endpoints and statuses is bounded. */
function memoize<Key, Value extends NonNullable<unknown>>(create: (key: Key) => Value): (key: Key) => Value {
  const created = new Map<Key, Value>();
  return (key) => {
    const known = created.get(key);
    if (known !== undefined) return known;
    const value = create(key);
    created.set(key, value);
    return value;
  };
}
