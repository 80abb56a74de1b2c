import type { Traffic as EndpointTraffic, TrafficMinute } from '../management/view.ts';
import { findQuantile, type Latencies } from './latency.ts';
import {
  type Counts,
  type EndpointTotals,
  NO_TRAFFIC,
  readTotals,
  subtract,
  type Totals,
} from './traffic-totals.ts';

/** The counts of the metrics over the last hour: differences between samples of them that are taken now and then. */
export interface Traffic {
  /** Keeps the counts as they are now. For a timer, each `SAMPLE_MS`. */
  sample(): Promise<void>;
  /** A call of an endpoint failed. */
  failed(endpoint: string, code: string): void;
  read(): Promise<TrafficNow>;
}

export interface TrafficNow {
  readonly startedMs: number;
  readonly windowSeconds: number;
  ofEndpoint(name: string, cached: boolean): EndpointTraffic;
  ofSource(name: string): { eventsPerSecond: number; minutes: number[] };
}

interface Sample {
  readonly atMs: number;
  readonly totals: Totals;
}

export const SAMPLE_MS = 10_000;
const MINUTE_MS = 60_000;
// The hour that is shown. Of what is older than a minute one sample a minute is kept: about 70 in all.
const KEPT_MS = 61 * MINUTE_MS;

/** @param now ms since the epoch */
export function createTraffic(counts: Counts, now: () => number): Traffic {
  const startedMs = now();
  let samples: Sample[] = [{ atMs: startedMs, totals: { endpoints: new Map(), sources: new Map() } }];
  const lastFailures = new Map<string, { code: string; atMs: number }>();

  const take = async (): Promise<Sample> => ({
    atMs: now(),
    totals: await readTotals(counts, samples.at(-1)?.totals),
  });

  return {
    async sample() {
      samples = thin([...samples, await take()], now());
    },
    failed: (endpoint, code) => void lastFailures.set(endpoint, { code, atMs: now() }),
    async read() {
      const latest = await take();
      const spans = toMinutes([...samples, latest]);
      const aMinuteAgo = findBefore(samples, latest.atMs - MINUTE_MS);
      // A service that has just started has not had the whole minute; its first requests are no rate of hundreds.
      const seconds = Math.max(MINUTE_MS, latest.atMs - aMinuteAgo.atMs) / 1000;
      const first = samples[0] ?? latest;
      return {
        startedMs,
        windowSeconds: Math.round((latest.atMs - first.atMs) / 1000),
        ofEndpoint(name, cached) {
          const minute = between(aMinuteAgo, latest, name);
          const failure = lastFailures.get(name);
          return {
            name,
            requests_per_minute: round((minute.requests * 60) / seconds),
            ...summarize(between(first, latest, name), cached),
            last_failure:
              failure === undefined ? null : { code: failure.code, at: new Date(failure.atMs).toISOString() },
            minutes: spans.map(([from, to]) => toMinute(from, between(from, to, name))),
          };
        },
        ofSource(name) {
          const stored = ({ totals }: Sample) => totals.sources.get(name) ?? 0;
          return {
            eventsPerSecond: round((stored(latest) - stored(aMinuteAgo)) / seconds),
            minutes: spans.map(([from, to]) => stored(to) - stored(from)),
          };
        },
      };
    },
  };
}

function between(from: Sample, to: Sample, name: string): EndpointTotals {
  const at = ({ totals }: Sample) => totals.endpoints.get(name) ?? NO_TRAFFIC;
  return subtract(at(to), at(from));
}

function summarize(counts: EndpointTotals, cached: boolean) {
  const { requests, answers, hits, rows, failureCodes } = counts;
  return {
    requests,
    failures: sum(failureCodes.values()),
    failure_codes: Object.fromEntries([...failureCodes].filter(([, count]) => count > 0)),
    ...toPercentiles(counts.latencies),
    hit_ratio: cached && answers > 0 ? hits / answers : null,
    rows,
  };
}

function toMinute({ atMs }: Sample, counts: EndpointTotals): TrafficMinute {
  return {
    at: new Date(atMs).toISOString(),
    requests: counts.requests,
    failures: sum(counts.failureCodes.values()),
    ...toPercentiles(counts.latencies),
  };
}

/** Neighbouring samples about a minute apart, the last of them the running minute. */
function toMinutes(samples: readonly Sample[]): [Sample, Sample][] {
  const marks = samples.filter((sample, i) => {
    const before = samples[i - 1];
    return before === undefined || minuteOf(before) !== minuteOf(sample) || i === samples.length - 1;
  });
  return marks.slice(1).map((to, i) => [marks[i] ?? to, to]);
}

function thin(samples: readonly Sample[], nowMs: number): Sample[] {
  return samples.filter(({ atMs }, i) => {
    if (atMs < nowMs - KEPT_MS) return false;
    const before = samples[i - 1];
    const isFirstOfMinute = before === undefined || minuteOf(before) !== minuteOf({ atMs });
    return isFirstOfMinute || atMs >= nowMs - MINUTE_MS - SAMPLE_MS;
  });
}

function minuteOf({ atMs }: Pick<Sample, 'atMs'>): number {
  return Math.floor(atMs / MINUTE_MS);
}

/** The newest sample that is at least that old; the oldest there is where none is. */
function findBefore(samples: readonly Sample[], atMs: number): Sample {
  const found = samples.findLast((sample) => sample.atMs <= atMs) ?? samples[0];
  if (found === undefined) throw new Error('there is no sample');
  return found;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, one) => total + one, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function toPercentiles(latencies: Latencies): { p50_ms: number | null; p99_ms: number | null } {
  return { p50_ms: toMs(findQuantile(latencies, 0.5)), p99_ms: toMs(findQuantile(latencies, 0.99)) };
}

/** With as many digits as a percentile is good for. */
function toMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Number((seconds * 1000).toPrecision(3));
}
