import { quantile } from '../measure.ts';

/** What both sides of a figure cost in each round, in the same unit. */
export interface Rounds {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

/**
 * The share of rounds that are better than the one that counts. Other work on the machine makes rounds dearer, never cheaper, so the lower quartile
 * of each side repeats better than the median.
 */
const SHARE = 0.25;

export function ratioOf({ ours, theirs }: Rounds): number {
  return quantile(ours, SHARE) / quantile(theirs, SHARE);
}
