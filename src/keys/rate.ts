import type { Rate } from '../lib/token-bucket.ts';
import { PER_SECOND_MAX } from './check-grant.ts';

/**
 * The rate of a key or token, in the shell and over HTTP.
 *
 * @param burst requests that may come at once; twice the rate without it, so that a client may catch up after a pause
 */
export function createRate(perSecond: number, burst?: number): Rate {
  const twice = Math.max(1, Math.ceil(perSecond * 2));
  return { perSecond, burst: burst ?? Math.min(PER_SECOND_MAX, twice) };
}
