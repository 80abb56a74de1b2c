import { MICROS_PER_SECOND, memberAt, projectOf, textAt, type WireEvent } from './event.ts';

export interface InvocationQuestion {
  readonly project: string;
  readonly functionId: string;
  readonly interval: string;
  /** Microseconds since the epoch. */
  readonly now: number;
}

/** What a row of `functions.invocation-stats` says; `times` are the execution times, sorted. */
export interface InvocationBucket {
  readonly timestamp: number;
  readonly times: readonly number[];
  readonly count: number;
  readonly errorCount: number;
}

interface Span {
  readonly widthSeconds: number;
  readonly rangeSeconds: number;
}

const DAY_IN_HOURS: Span = { widthSeconds: 3600, rangeSeconds: 86_400 };

const SPANS: Readonly<Record<string, Span>> = {
  '5min': { widthSeconds: 1, rangeSeconds: 300 },
  '15min': { widthSeconds: 60, rangeSeconds: 900 },
  '1hr': { widthSeconds: 60, rangeSeconds: 3600 },
  '1day': DAY_IN_HOURS,
  '7day': { widthSeconds: 86_400, rangeSeconds: 604_800 },
};

/** Spec 4.1 and 2.2, over events of `deno-relay-logs`. */
export function invocationStats(
  events: readonly WireEvent[],
  { project, functionId, interval, now }: InvocationQuestion,
): InvocationBucket[] {
  const { widthSeconds, rangeSeconds } = SPANS[interval] ?? DAY_IN_HOURS;
  const width = widthSeconds * MICROS_PER_SECOND;
  const bucketOf = (micros: number) => Math.floor(micros / width) * width;
  const first = bucketOf(now - rangeSeconds * MICROS_PER_SECOND);
  const counted = events.filter(
    (event) =>
      projectOf(event, 'deno-relay-logs') === project &&
      event.timestamp >= first &&
      (functionId === '' || textAt(event, 'metadata.function_id') === functionId),
  );
  const buckets = Map.groupBy(counted, (event) => bucketOf(event.timestamp));
  return [...buckets]
    .map(([timestamp, inBucket]) => ({
      timestamp,
      times: inBucket
        .map((event) => memberAt(event, 'metadata.execution_time_ms'))
        .filter((time) => typeof time === 'number')
        .sort((a, b) => a - b),
      count: inBucket.length,
      errorCount: inBucket.filter(isError).length,
    }))
    .sort((a, b) => a.timestamp - b.timestamp);
}

function isError(event: WireEvent): boolean {
  const status = memberAt(event, 'metadata.response.status_code');
  return typeof status === 'number' && status >= 400;
}
