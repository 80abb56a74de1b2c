import { LRUCache } from 'lru-cache';

/** A rate limit: the average requests a second, and the most at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Tokens left at an instant; created by `takeToken`. */
export interface TokenBucket {
  readonly tokens: number;
  /** ms since the epoch. */
  readonly atMs: number;
}

/** The outcome of a request for a token. */
export type RateDecision = Readonly<ReturnType<typeof decideRate>>;

// Sums of fractions fall a little short. Without this a caller that waits for Retry-After could be rejected again.
export const ROUNDING_TOKENS = 1e-4;

/**
 * Takes a token from a bucket that fills with `perSecond` tokens a second up to `burst` (`undefined`: a full one). A
 * changed rate applies at once. A clock that is set back adds no tokens and removes none.
 */
export function takeToken(
  bucket: TokenBucket | undefined,
  rate: Rate,
  nowMs: number,
): RateDecision & { readonly bucket: TokenBucket } {
  const tokens = fill(bucket, rate, nowMs);
  const passed = tokens >= 1 - ROUNDING_TOKENS;
  const left = passed ? Math.max(0, tokens - 1) : tokens;
  return { bucket: { tokens: left, atMs: nowMs }, ...decideRate(left, passed, rate) };
}

// Keys, addresses, or pairs of both. Beyond it the least recently used are dropped, which fills their buckets. About
// 3 MB.
export const BUCKETS_MAX = 10_000;

/** Creates the token buckets of this process, by name. */
export function createBuckets(now: () => number) {
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });
  return {
    take(name: string, rate: Rate): RateDecision {
      const { bucket, ...standing } = takeToken(buckets.get(name), rate, now());
      buckets.set(name, bucket);
      return standing;
    },
    /** Returns what `take` would, and takes nothing. */
    probe: (name: string, rate: Rate): RateDecision => takeToken(buckets.get(name), rate, now()),
  };
}

/** @param left tokens after the request */
export function decideRate(left: number, passed: boolean, { perSecond, burst }: Rate) {
  return {
    /** Whether there was a token. If not, none is consumed. */
    passed,
    /** Whole tokens left. */
    remaining: Math.floor(left),
    /** Until the bucket is full, rounded up. */
    resetSeconds: secondsFor(burst - left, perSecond),
    /** Until there is a token, rounded up. */
    retryAfterSeconds: Math.max(1, secondsFor(1 - left, perSecond)),
  };
}

function fill(bucket: TokenBucket | undefined, { perSecond, burst }: Rate, nowMs: number): number {
  if (bucket === undefined) return burst;
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  return Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000);
}

function secondsFor(tokens: number, perSecond: number): number {
  return Math.max(0, Math.ceil((tokens - ROUNDING_TOKENS) / perSecond));
}
