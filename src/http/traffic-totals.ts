import { type Latencies, NO_LATENCIES, subtractLatencies } from './latency.ts';
import type { Metrics } from './metrics.ts';

/** Outcomes of the cache for which the engine was not asked. */
const KEPT: ReadonlySet<unknown> = new Set(['hit', 'shared', 'stale']);

/** Counts of one endpoint since the start. */
export interface EndpointTotals {
  readonly requests: number;
  readonly failureCodes: ReadonlyMap<string, number>;
  readonly answers: number;
  /** Answers that were kept already. */
  readonly hits: number;
  readonly rows: number;
  /** How long its requests took. */
  readonly latencies: Latencies;
}

export interface Totals {
  readonly endpoints: ReadonlyMap<string, EndpointTotals>;
  /** Source → events stored. */
  readonly sources: ReadonlyMap<string, number>;
}

export const NO_TRAFFIC: EndpointTotals = {
  requests: 0,
  failureCodes: new Map(),
  answers: 0,
  hits: 0,
  rows: 0,
  latencies: NO_LATENCIES,
};

/** The part of the metrics that is read here. */
export type Counts = Pick<Metrics, 'read' | 'latencies'>;

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends ReadonlyMap<infer A, infer B> ? Map<A, B> : T[K] };

/**
 * The counts of the metrics by endpoint and source.
 *
 * @param before endpoints without a request since then share their counts with it, so that samples of idle ones take no memory
 */
export async function readTotals({ read, latencies }: Counts, before?: Totals): Promise<Totals> {
  const endpoints = new Map<string, Mutable<EndpointTotals>>();
  const of = (name: string | number | undefined): Mutable<EndpointTotals> => {
    const key = String(name ?? '');
    const found = endpoints.get(key) ?? { ...NO_TRAFFIC, failureCodes: new Map() };
    endpoints.set(key, found);
    return found;
  };
  for (const { labels, value } of await read('tailrace_http_requests_total'))
    of(labels['endpoint']).requests += value;
  for (const { labels, value } of await read('tailrace_failures_total'))
    of(labels['endpoint']).failureCodes.set(String(labels['code']), value);
  for (const { labels, value } of await read('tailrace_answers_total')) {
    const totals = of(labels['endpoint']);
    totals.answers += value;
    if (KEPT.has(labels['cache'])) totals.hits += value;
  }
  for (const { labels, value } of await read('tailrace_rows_returned_total'))
    of(labels['endpoint']).rows = value;
  for (const [name, counts] of latencies()) of(name).latencies = counts.slice();
  const sources = (await read('tailrace_events_stored_total')).map(
    ({ labels, value }) => [String(labels['source']), value] as const,
  );
  endpoints.delete(''); // requests of other routes
  return { endpoints: new Map(share(endpoints, before)), sources: new Map(sources) };
}

function* share(endpoints: ReadonlyMap<string, EndpointTotals>, before: Totals | undefined) {
  for (const [name, totals] of endpoints) {
    const old = before?.endpoints.get(name);
    yield [name, old?.requests === totals.requests && old.answers === totals.answers ? old : totals] as const;
  }
}

/** What came between two readings. */
export function subtract(after: EndpointTotals, before: EndpointTotals): EndpointTotals {
  const less = <K>(a: ReadonlyMap<K, number>, b: ReadonlyMap<K, number>) =>
    new Map([...a].map(([key, value]) => [key, value - (b.get(key) ?? 0)]));
  return {
    requests: after.requests - before.requests,
    failureCodes: less(after.failureCodes, before.failureCodes),
    answers: after.answers - before.answers,
    hits: after.hits - before.hits,
    rows: after.rows - before.rows,
    latencies: subtractLatencies(after.latencies, before.latencies),
  };
}
