import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { Caller } from '../keys/keyring.ts';
import { type Rate, type RateDecision, type TokenBucket, takeToken } from '../lib/token-bucket.ts';

/** A bucket by the id of its key or token. */
export interface NamedRate {
  readonly name: string;
  readonly rate: Rate;
}

export interface Limited {
  readonly rate: Rate;
  readonly standing: RateDecision;
}

/** The buckets that a request of a caller takes a token of, in order, as long as there is one in each. */
export type FindRates = (caller: Caller) => readonly NamedRate[];

const NO_RATES: readonly NamedRate[] = [];

/**
 * A signed token counts for its key too, so that many of them have no more than the key. Keys without a rate have that of the
 * settings, if any.
 */
export function createFindRates({
  ratePerSecond,
  rateBurst,
}: Pick<Config, 'ratePerSecond' | 'rateBurst'>): FindRates {
  const fallback: Rate | undefined =
    ratePerSecond === 0 ? undefined : { perSecond: ratePerSecond, burst: rateBurst || ratePerSecond };
  return ({ keyId, rate = fallback, token }) => {
    const ofKey = rate === undefined ? NO_RATES : [{ name: keyId, rate }];
    return token?.rate === undefined ? ofKey : [{ name: token.id, rate: token.rate }, ...ofKey];
  };
}

/** What is told of several: the one that refuses, else the one that leaves less; of equals the last, which is the key's. */
export function findTightest(all: readonly Limited[]): Limited {
  const [first, ...others] = all;
  if (first === undefined) throw new Error('there is no rate');
  return others.reduce((tightest, next) => {
    if (!tightest.standing.passed || !next.standing.passed) return tightest.standing.passed ? next : tightest;
    return tightest.standing.remaining < next.standing.remaining ? tightest : next;
  }, first);
}

// The key least recently used is forgotten beyond it, which fills its bucket. About 2 MB.
const BUCKETS_MAX = 10_000;

/** Takes a token of each, up to the first that has none, in this process alone. */
export function createLocalRates(now: () => number): (rates: readonly NamedRate[]) => Limited[] {
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });
  return (rates) => {
    const all: Limited[] = [];
    for (const { name, rate } of rates) {
      const { bucket, ...standing } = takeToken(buckets.get(name), rate, now());
      buckets.set(name, bucket);
      all.push({ rate, standing });
      if (!standing.passed) break;
    }
    return all;
  };
}
