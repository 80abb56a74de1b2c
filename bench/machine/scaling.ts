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

/** What decides how many new answers a service gives on a machine. */
export interface RateInputs {
  /** Of one caller's answer: a query cannot be faster, however many cores are free. */
  readonly alone: ScalingModel;
  /** Of each of many answers. */
  readonly many: ScalingModel;
  /** Core time of the event loop, of which there is one, for an answer. */
  readonly loopMs: number;
  /** Queries at once. */
  readonly readers: number;
}

/** The rate with so many cores, and what keeps it from being higher. */
export function reckonRate(inputs: RateInputs, cores: number): { perSecond: number; bound: string } {
  const { alone, many, loopMs, readers } = inputs;
  const bounds = [
    { bound: 'cores', perSecond: 1000 / reckonMs(many, cores) },
    { bound: 'event loop', perSecond: 1000 / loopMs },
    { bound: 'readers', perSecond: (readers * 1000) / reckonMs(alone, cores) },
  ];
  return bounds.reduce((least, one) => (one.perSecond < least.perSecond ? one : least));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
