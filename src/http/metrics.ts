import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CacheOutcome } from '../cache/cached.ts';
import type { CacheStore } from '../cache/store.ts';
import type { Engine } from '../engine/engine.ts';

/** What is counted, under the names of docs/operating.md. */
export interface Metrics {
  /** `endpoint` is empty on other routes, and where the call failed before its endpoint was known. */
  request(request: { route: string; endpoint: string; status: number; seconds: number }): void;
  served(endpoint: string, outcome: CacheOutcome, rows: number): void;
  failed(endpoint: string, code: string): void;
  queryStarted(endpoint: string): void;
  queryDone(endpoint: string, seconds: number): void;
  refreshed(endpoint: string, failed: boolean): void;
  readonly contentType: string;
  /** In Prometheus' text format. */
  render(): Promise<string>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A registry of its own for each service, so that two in one process do not share counts. */
export function createMetrics(parts: { engine: Engine; cache: CacheStore }): Metrics {
  const registers = [new Registry()];
  const [registry] = registers;
  collectDefaultMetrics({ register: registry as Registry }); // event loop delay, memory, garbage collection
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

  const requests = counter('tailrace_http_requests_total', 'Requests by route, endpoint and status.', [
    'route',
    'endpoint',
    'status',
  ]);
  const durations = histogram('tailrace_http_request_seconds', 'Time from request to answer.', ['route']);
  const answers = counter('tailrace_answers_total', 'Answers by endpoint and cache outcome.', [
    'endpoint',
    'cache',
  ]);
  const failures = counter('tailrace_failures_total', 'Failed calls by endpoint and error code.', [
    'endpoint',
    'code',
  ]);
  const rows = counter('tailrace_rows_returned_total', 'Rows returned by endpoint.', ['endpoint']);
  const queries = counter('tailrace_engine_queries_total', 'Queries that reached the engine.', ['endpoint']);
  const engineTime = histogram('tailrace_engine_query_seconds', 'Time of a query inside the engine.', [
    'endpoint',
  ]);
  const refreshes = counter('tailrace_cache_refreshes_total', 'Refreshes of warm answers.', [
    'endpoint',
    'result',
  ]);
  gauge('tailrace_engine_running', 'Queries running in the engine.', () => parts.engine.gauges().running);
  gauge('tailrace_engine_queued', 'Queries waiting for the engine.', () => parts.engine.gauges().queued);
  gauge('tailrace_cache_entries', 'Answers in the cache.', () => parts.cache.size);
  gauge('tailrace_cache_bytes', 'Bytes of the answers in the cache.', () => parts.cache.bytes);

  return {
    request({ route, endpoint, status, seconds }) {
      requests.inc({ route, endpoint, status: String(status) });
      durations.observe({ route }, seconds);
    },
    served(endpoint, cache, count) {
      answers.inc({ endpoint, cache });
      rows.inc({ endpoint }, count);
    },
    failed: (endpoint, code) => failures.inc({ endpoint, code }),
    queryStarted: (endpoint) => queries.inc({ endpoint }),
    queryDone: (endpoint, seconds) => engineTime.observe({ endpoint }, seconds),
    refreshed: (endpoint, failed) => refreshes.inc({ endpoint, result: failed ? 'failed' : 'done' }),
    contentType: (registry as Registry).contentType,
    render: () => (registry as Registry).metrics(),
  };
}
