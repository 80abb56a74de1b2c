/**
 * Counts of durations in buckets whose bounds grow by a constant factor, so that a quantile has the same relative error at 20 µs
 * and at 20 s. Counts only rise, so what came between two readings is their difference.
 *
 * A snapshot is kept a minute, so its size bounds the memory of an endpoint: 1.2 KB each.
 */
export type Latencies = Uint32Array;

/** Quantiles are off by at most the square root of this: 4 %. */
const GROWTH = 1.08;
const SECONDS_MIN = 1e-6;
/** Longer durations count as this long. */
const SECONDS_MAX = 3_600;

const SCALE = 1 / Math.log(GROWTH);
const BUCKETS = Math.ceil(Math.log(SECONDS_MAX / SECONDS_MIN) * SCALE) + 1;

export const NO_LATENCIES: Latencies = createLatencies();

export function createLatencies(): Latencies {
  return new Uint32Array(BUCKETS);
}

/** Counts one duration. Called for every request: one logarithm, no allocation. */
export function countLatency(latencies: Latencies, seconds: number): void {
  const at = Math.round(Math.log(seconds / SECONDS_MIN) * SCALE);
  const bucket = Math.max(0, Math.min(at, BUCKETS - 1));
  latencies[bucket] = (latencies[bucket] ?? 0) + 1;
}

/** What was counted between two readings. Counts wrap at 2^32, and so does their difference: it stays right. */
export function subtractLatencies(after: Latencies, before: Latencies): Latencies {
  return after.map((count, at) => count - (before[at] ?? 0));
}

/**
 * The quantile by nearest rank: the shortest duration that this share of all did not exceed, within 4 %.
 *
 * @param quantile above 0, at most 1
 * @returns seconds; `undefined` if nothing was counted
 */
export function findQuantile(latencies: Latencies, quantile: number): number | undefined {
  const total = latencies.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  // A tolerance far below one rank: 0.99 × 100 is 99, whatever the product of the two doubles says.
  const rank = Math.ceil(quantile * total - 1e-6);
  let passed = 0;
  const at = latencies.findIndex((count) => {
    passed += count;
    return passed >= rank;
  });
  return SECONDS_MIN * GROWTH ** at;
}
