import { LRUCache } from 'lru-cache';
import { networkOf as parseNetwork } from '../lib/network.ts';
import { type TokenBucket, takeToken } from '../lib/token-bucket.ts';

/** Bounds how fast keys can be tried from one address. */
export interface FailedKeys {
  /** Counts a request whose key was refused. @returns seconds to wait, where there were too many; otherwise `undefined` */
  fail(address: string): number | undefined;
  /**
   * Lets an accepted key in. Where too many have failed, only one that was accepted from the same address before: whoever
   * tries keys does not learn which is right, and those behind the same proxy go on being served.
   *
   * @returns seconds to wait, as many as a wrong key is told; `undefined` where it may come in
   */
  enter(address: string, keyId: string): number | undefined;
}

// Least recently used addresses and keys are forgotten beyond it, which begins their count anew. About 3 MB.
const REMEMBERED_MAX = 10_000;

/** @param perMinuteMax 0: no bound */
export function createFailedKeys(perMinuteMax: number, now: () => number): FailedKeys {
  const rate = { perSecond: perMinuteMax / 60, burst: perMinuteMax };
  const buckets = new LRUCache<string, TokenBucket>({ max: REMEMBERED_MAX });
  const accepted = new LRUCache<string, true>({ max: REMEMBERED_MAX });
  // Of every request: reading an address costs more than all the rest here.
  const networks = new LRUCache<string, string>({ max: REMEMBERED_MAX, memoMethod: parseNetwork });
  const networkOf = (address: string) => networks.memo(address);
  return {
    fail(address) {
      if (perMinuteMax === 0) return undefined;
      const network = networkOf(address);
      const { bucket, passed, retryAfterSeconds } = takeToken(buckets.get(network), rate, now());
      buckets.set(network, bucket);
      return passed ? undefined : retryAfterSeconds;
    },
    enter(address, keyId) {
      if (perMinuteMax === 0) return undefined;
      const network = networkOf(address);
      const pair = `${network} ${keyId}`;
      if (accepted.get(pair) === true) return undefined;
      const { passed, retryAfterSeconds } = takeToken(buckets.get(network), rate, now()); // looked at, not taken
      if (!passed) return retryAfterSeconds;
      accepted.set(pair, true);
      return undefined;
    },
  };
}
