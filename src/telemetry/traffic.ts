import type { CacheOutcome } from '../cache/store.ts';
import { isoTime } from '../lib/instant.ts';
import type { Metrics } from './metrics.ts';
import { addIncreases, type BucketCounts, type Count, type Durations, findQuantile } from './series.ts';

/** The requests and events of the last hour: the increases of the counts between samples. */
export type Traffic = ReturnType<typeof createTraffic>;

interface Sample {
  readonly atMs: number;
  readonly startsMinute: boolean;
  readonly counts: ReadonlyMap<Count, number>;
  readonly durations: ReadonlyMap<Durations, BucketCounts>;
}

/** From one sample to a later one. */
interface Span {
  readonly from: Sample;
  readonly to: Sample;
}

export const SAMPLE_MS = 10_000;
const MINUTE_MS = 60_000;
// The console shows an hour. Beyond the last minute one sample a minute is kept: about 70 in all.
const KEPT_MS = 61 * MINUTE_MS;
/** Answers without a query on the engine. */
const HITS: ReadonlySet<string> = new Set<CacheOutcome>(['hit', 'shared', 'stale']);

/** @param now ms since the epoch */
export function createTraffic(metrics: Metrics, now: () => number) {
  const startedMs = now();
  let last: Sample = { atMs: startedMs, startsMinute: true, counts: new Map(), durations: new Map() };
  let kept = [last];

  function take(): Sample {
    const { requests, failures, answers, rows, stored, requestDurations } = metrics;
    const counters = [requests, failures, answers, rows, stored];
    const atMs = now();
    return {
      atMs,
      startsMinute: Math.floor(atMs / MINUTE_MS) !== Math.floor(last.atMs / MINUTE_MS),
      counts: new Map(counters.flatMap(({ all }) => all.map(([, count]) => [count, count.value] as const))),
      durations: new Map(requestDurations.all.map(([, durations]) => [durations, durations.sample()])),
    };
  }

  return {
    /** Keeps a sample of the counts. For a timer, each `SAMPLE_MS`. */
    sample(): void {
      last = take();
      const { atMs: nowMs } = last;
      kept = [...kept, last].filter(
        ({ atMs, startsMinute }) => atMs >= nowMs - (startsMinute ? KEPT_MS : MINUTE_MS + SAMPLE_MS),
      );
    },
    read: () => ({ startedMs, ...describeTraffic(metrics, kept, take()) }),
  };
}

/** @param kept samples, oldest first */
function describeTraffic(metrics: Metrics, kept: readonly Sample[], latest: Sample) {
  const hour: Span = { from: kept[0] ?? latest, to: latest };
  const minuteAgo = kept.findLast(({ atMs }) => atMs <= latest.atMs - MINUTE_MS);
  const minute: Span = { from: minuteAgo ?? hour.from, to: latest };
  // A service that started less than a minute ago: its first requests would look like a rate of hundreds.
  const minuteSeconds = Math.max(MINUTE_MS, latest.atMs - minute.from.atMs) / 1000;
  const marks = [...kept.filter(({ startsMinute }) => startsMinute), latest];
  const minutes: Span[] = marks.slice(1).map((to, i) => ({ from: marks[i] ?? to, to }));
  return {
    windowSeconds: Math.round((latest.atMs - hour.from.atMs) / 1000),
    ofEndpoint(name: string, isCached: boolean) {
      const requests = metrics.requests.all.filter(([[, endpoint]]) => endpoint === name);
      const durations = metrics.requestDurations.all.filter(([[, endpoint]]) => endpoint === name);
      const failures = metrics.failures.all.filter(([[endpoint]]) => endpoint === name);
      const codes = failures.map(([[, code], count]) => [code, increase(count, hour)] as const);
      const answers = metrics.answers.all.filter(([[endpoint]]) => endpoint === name);
      const hits = answers.filter(([[, outcome]]) => HITS.has(outcome));
      const answered = sumIncreases(answers, hour);
      const failure = metrics.findLastFailure(name);
      const describe = (span: Span) => ({
        requests: sumIncreases(requests, span),
        failures: sumIncreases(failures, span),
        ...findPercentiles(durations, span),
      });
      return {
        name,
        requests_per_minute: round((sumIncreases(requests, minute) * 60) / minuteSeconds),
        ...describe(hour),
        failure_codes: Object.fromEntries(codes.filter(([, count]) => count > 0)),
        hit_ratio: isCached && answered > 0 ? sumIncreases(hits, hour) / answered : null,
        rows: increase(metrics.rows.find(name), hour),
        last_failure: failure === undefined ? null : { code: failure.code, at: isoTime(failure.atMs) },
        minutes: minutes.map((span) => ({ at: isoTime(span.from.atMs), ...describe(span) })),
      };
    },
    ofSource(name: string) {
      const stored = metrics.stored.find(name);
      return {
        events_per_second: round(increase(stored, minute) / minuteSeconds),
        without_project: metrics.withoutProject.find(name)?.value ?? 0,
        minutes: minutes.map((span) => increase(stored, span)),
      };
    },
  };
}

function increase(count: Count | undefined, { from, to }: Span): number {
  return count === undefined ? 0 : (to.counts.get(count) ?? 0) - (from.counts.get(count) ?? 0);
}

function sumIncreases(series: readonly (readonly [unknown, Count])[], span: Span): number {
  return series.reduce((sum, [, count]) => sum + increase(count, span), 0);
}

function findPercentiles(series: readonly (readonly [unknown, Durations])[], { from, to }: Span) {
  const counts = addIncreases(
    series.map(([, durations]) => ({
      before: from.durations.get(durations),
      after: to.durations.get(durations),
    })),
  );
  return { p50_ms: toMs(findQuantile(counts, 0.5)), p99_ms: toMs(findQuantile(counts, 0.99)) };
}

const round = (value: number) => Math.round(value * 100) / 100;

/** Rounds to as many digits as a percentile is exact to. */
function toMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Number((seconds * 1000).toPrecision(3));
}
