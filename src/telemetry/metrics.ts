import { OVERLOADS } from '../ingest/backpressure.ts';
import { createMetricRegistry, type LabelValues, type MetricRegistry } from './prometheus.ts';
import { type Counter, createRecorder } from './series.ts';

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

/**
 * The counts of the service. Members that end in `Counts` or `Durations` are read by the overview, the others record.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** @param now ms since the epoch */
export function createMetrics(now: () => number) {
  const registry = createMetricRegistry();
  const counters = createCounters(registry);
  return {
    registry,
    contentType: registry.contentType,
    /** Returns all metrics in Prometheus' text format. */
    render: registry.render,
    ...createRequestMetrics(registry, counters, now),
    ...createStateMetrics(registry),
    rateLimited: counters.rateLimited.inc,
    /** Counts a request whose rate only this replica knew: Redis was unavailable. */
    rateHeldLocally: counters.rateHeldLocally.inc,
    connectionDropped: counters.connectionsDropped.inc,
    tailEnded: counters.tailsEnded.inc,
    queryStarted: counters.queries.inc,
    refreshed: (endpoint: string, failed: boolean) =>
      counters.refreshes.inc(endpoint, failed ? 'failed' : 'done'),
    redisFailed: counters.redisFailures.inc,
    sharedLookup: counters.lookups.inc,
    sharedRejected: counters.sharedRejected.inc,
    storedCounts: counters.stored,
    withoutProjectCounts: counters.withoutProject,
    committed(source: string, rows: number, failed: boolean) {
      counters.commits.inc(source, failed ? 'failed' : 'done');
      if (!failed) counters.stored.at(source).add(rows);
    },
    overloaded: counters.overloads.inc,
    rejected: (source: string, count: number) => counters.rejected.at(source).add(count),
    withoutProject: (source: string, count: number) => counters.withoutProject.at(source).add(count),
    repaired: (source: string, count: number) => counters.repaired.at(source).add(count),
    filtered(source: string, counts: Readonly<Record<string, number>>) {
      for (const [rule, count] of Object.entries(counts))
        if (count > 0) counters.filtered.at(source, rule).add(count);
    },
    dayDropped: counters.daysDropped.inc,
    /** Creates the series of a task: Prometheus sees only increases of series that it knows. */
    taskStarted: (task: string) => void counters.taskFailures.at(task),
    taskFailed: counters.taskFailures.inc,
  };
}

/** The metrics of requests and queries. */
function createRequestMetrics({ histogram }: MetricRegistry, counters: Counters, now: () => number) {
  const requestDurations = histogram(
    'tailrace_http_request_seconds',
    'Time from request to response, by route and endpoint.',
    ['route', 'endpoint'],
  );
  const queryDurations = histogram(
    'tailrace_engine_query_seconds',
    'Time of a query in the engine, by endpoint.',
    ['endpoint'],
  );
  const lastFailures = new Map<string, { readonly code: string; readonly atMs: number }>();
  return {
    requestCounts: counters.requests,
    requestDurations,
    answerCounts: counters.answers,
    failureCounts: counters.failures,
    rowCounts: counters.rows,
    ...createRecorder({ ...counters, requestDurations, queryDurations }),
    failed(endpoint: string, code: string) {
      counters.failures.inc(endpoint, code);
      lastFailures.set(endpoint, { code, atMs: now() });
    },
    /** Only for the overview: Prometheus has no such type. */
    findLastFailure: (endpoint: string) => lastFailures.get(endpoint),
  };
}

/** States that their parts report, unlike those that a scrape reads (gauges.ts). */
function createStateMetrics({ gauge }: MetricRegistry) {
  let open = 0;
  let isRedisUp = false;
  let isStopped = false;
  gauge('tailrace_connections_open', 'Open connections.', () => open);
  gauge('tailrace_redis_up', '1 if Redis can be reached.', () => Number(isRedisUp));
  gauge('tailrace_retention_stopped', '1 if retention has stopped, since the clock may be wrong.', () =>
    Number(isStopped),
  );
  return {
    connectionOpened() {
      open++;
    },
    connectionClosed() {
      open--;
    },
    redisUp(isUp: boolean) {
      isRedisUp = isUp;
    },
    retentionStopped(is: boolean) {
      isStopped = is;
    },
  };
}
