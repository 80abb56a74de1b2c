import { MICROS_PER_SECOND, projectOf, textAt, type WireEvent } from './event.ts';

export interface UsageQuestion {
  /** A pattern that means the same to RE2 and to JavaScript; `(?i)` may stand at its beginning. */
  readonly pattern: string;
  readonly interval: 'hourly' | 'minutely' | 'daily';
  /** Microseconds since the epoch. */
  readonly now: number;
}

const SPANS = {
  hourly: { widthSeconds: 3600, lookbackSeconds: 3600 },
  daily: { widthSeconds: 86_400, lookbackSeconds: 604_800 },
  minutely: { widthSeconds: 60, lookbackSeconds: 3600 },
} as const;

/** Spec 4.3 and 2.4, over events of `cloudflare.logs.prod`: the rows exactly as they are answered. */
export function apiCounts(events: readonly WireEvent[], { pattern, interval, now }: UsageQuestion): object[] {
  const { widthSeconds, lookbackSeconds } = SPANS[interval];
  const width = widthSeconds * MICROS_PER_SECOND;
  const regex = toRegExp(pattern);
  const counted = events
    .filter((event) => event.timestamp >= now - lookbackSeconds * MICROS_PER_SECOND)
    .filter((event) => regex.test(urlOf(event)))
    .sort((a, b) => a.timestamp - b.timestamp);
  const buckets = Map.groupBy(counted, (event) => Math.floor(event.timestamp / width) * width);
  return [...buckets].map(([bucket, inBucket]) => {
    const requests = (marker: string) => inBucket.filter((event) => pathOf(event).includes(marker)).length;
    return {
      timestamp: new Date(bucket / 1000).toISOString().slice(0, 19),
      total_rest_requests: requests('/rest'),
      total_storage_requests: requests('/storage'),
      total_auth_requests: requests('/auth'),
      total_realtime_requests: requests('/realtime'),
    };
  });
}

function pathOf(event: WireEvent): string {
  return textAt(event, 'metadata.request.path') ?? '';
}

/** Project and path stand in for the url of an event that has none (design: "API request fields"). */
function urlOf(event: WireEvent): string {
  const url = textAt(event, 'metadata.request.url');
  return url ?? (projectOf(event, 'cloudflare.logs.prod') ?? '') + pathOf(event);
}

/** RE2 as the engine runs it: a dot matches a line break too, `^` and `$` are the ends of the text. */
function toRegExp(pattern: string): RegExp {
  return pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'sui') : new RegExp(pattern, 'su');
}
