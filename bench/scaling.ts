/** A measured time with so many cores. */
export interface CorePoint {
  readonly cores: number;
  readonly ms: number;
}

/**
 * Amdahl's law: a time with n cores is `serialMs` + `parallelMs` / n. Serial is what one thread at a time does, such as
 * the event loop, the engine's planning and its locks; parallel what its threads and other queries share.
 */
export interface ScalingModel {
  readonly serialMs: number;
  readonly parallelMs: number;
}

/**
 * Fits the model by least squares. More cores never take longer in it, and no part is negative: points that say
 * otherwise differ by noise.
 *
 * @throws Error of points with one number of cores
 */
export function fitScaling(points: readonly CorePoint[]): ScalingModel {
  if (new Set(points.map(({ cores }) => cores)).size < 2)
    throw new Error('a model needs times with two numbers of cores');
  const shares = points.map(({ cores }) => 1 / cores);
  const times = points.map(({ ms }) => ms);
  const [meanShare, meanMs] = [mean(shares), mean(times)];
  const covariance = mean(points.map(({ cores, ms }) => (1 / cores - meanShare) * (ms - meanMs)));
  const slope = covariance / mean(shares.map((share) => (share - meanShare) ** 2));
  const parallelMs = Math.max(0, slope);
  const serialMs = meanMs - parallelMs * meanShare;
  if (serialMs >= 0) return { serialMs, parallelMs };
  // The best line through the origin.
  const [products, squares] = [
    shares.map((share, i) => share * (times[i] ?? 0)),
    shares.map((one) => one ** 2),
  ];
  return { serialMs: 0, parallelMs: mean(products) / mean(squares) };
}

/** The time with so many cores, ms. */
export function reckonMs({ serialMs, parallelMs }: ScalingModel, cores: number): number {
  return serialMs + parallelMs / cores;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
