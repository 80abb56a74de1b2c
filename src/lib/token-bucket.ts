/** What may pass: so many a second over time, and so many at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What is left; made by `takeToken`. */
export interface Bucket {
  readonly tokens: number;
  /** When that was so, ms since the epoch. */
  readonly atMs: number;
}

/** Where a caller stands who has asked a bucket for a token. */
export interface Standing {
  /** Whether there was a token; where there was none, nothing is taken. */
  readonly passed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until the bucket is full again, whole seconds, rounded up. */
  readonly resetSeconds: number;
  /** Until there is a token again, whole seconds, rounded up, at least 1. */
  readonly retryAfterSeconds: number;
}

export interface Taken extends Standing {
  readonly bucket: Bucket;
}

// Sums of fractions fall a little short; without this a caller that waits as long as it was told would be refused again.
export const ROUNDING_TOKENS = 1e-4;

/**
 * Takes a token from a bucket that fills with `perSecond` a second up to `burst`. A rate that has changed since applies at
 * once. A clock that was set back fills nothing, and takes nothing away.
 *
 * @param bucket `undefined`: full
 */
export function takeToken(bucket: Bucket | undefined, { perSecond, burst }: Rate, nowMs: number): Taken {
  const tokens = fill(bucket, { perSecond, burst }, nowMs);
  const passed = tokens >= 1 - ROUNDING_TOKENS;
  const left = passed ? Math.max(0, tokens - 1) : tokens;
  return { bucket: { tokens: left, atMs: nowMs }, ...standAt(left, passed, { perSecond, burst }) };
}

/** @param left tokens, after one was taken where one was */
export function standAt(left: number, passed: boolean, { perSecond, burst }: Rate): Standing {
  return {
    passed,
    remaining: Math.floor(left),
    resetSeconds: secondsFor(burst - left, perSecond),
    retryAfterSeconds: Math.max(1, secondsFor(1 - left, perSecond)),
  };
}

function fill(bucket: Bucket | undefined, { perSecond, burst }: Rate, nowMs: number): number {
  if (bucket === undefined) return burst;
  const since = Math.max(0, nowMs - bucket.atMs);
  return Math.min(burst, bucket.tokens + (since * perSecond) / 1000);
}

function secondsFor(tokens: number, perSecond: number): number {
  return Math.max(0, Math.ceil((tokens - ROUNDING_TOKENS) / perSecond));
}
