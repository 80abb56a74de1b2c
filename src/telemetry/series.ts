/** One item for each combination of label values, such as a count. Values are in the order of the metric's label names. */
export interface Series<Values extends readonly string[], Item> {
  /** Returns the item of these values, created on first use. */
  at(...values: Values): Item;
  find(...values: Values): Item | undefined;
  /** Lists items in the order of their first use. */
  readonly all: readonly (readonly [values: Values, item: Item])[];
}

/** Counts by label values; none of them ever falls. */
export interface Counter<Values extends readonly string[]> extends Series<Values, Count> {
  /** Adds 1. */
  inc(...values: Values): void;
}

export interface Count {
  value: number;
}

/** The items of all series whose values begin alike. */
interface Branch<Item> {
  readonly next: Map<string, Branch<Item>>;
  item?: Item;
}

/** Creates series. Their items are found value by value, since building a key of them would cost more than a count. */
export function createSeries<Values extends readonly string[], Item>(
  createItem: () => Item,
): Series<Values, Item> {
  const all: [Values, Item][] = [];
  const root: Branch<Item> = { next: new Map() };
  return {
    all,
    find(...values) {
      let branch: Branch<Item> | undefined = root;
      for (const value of values) branch = branch?.next.get(value);
      return branch?.item;
    },
    at(...values) {
      let branch = root;
      for (let at = 0; at < values.length; at++) branch = growBranch(branch, values[at] ?? '');
      if (branch.item !== undefined) return branch.item;
      const item = createItem();
      branch.item = item;
      all.push([values, item]);
      return item;
    },
  };
}

function growBranch<Item>({ next }: Branch<Item>, value: string): Branch<Item> {
  const known = next.get(value);
  if (known !== undefined) return known;
  const grown = { next: new Map() };
  next.set(value, grown);
  return grown;
}

/** Durations in buckets. */
export interface Durations {
  /** Durations in each bucket, without those of the buckets below it. */
  readonly counts: Readonly<Float64Array>;
  /** Sum of all durations, seconds. */
  readonly sum: number;
  /** Counts one duration. Called for every request: no allocation. */
  observe(seconds: number): void;
  /** Returns the present counts; the same object as before if nothing was observed since. */
  sample(): BucketCounts;
}

/**
 * Counts of all buckets at one time. Samples are kept for an hour, so their size bounds the memory of an endpoint: 1.2
 * KB each. Counts wrap at 2^32, and so does the difference of two samples, which stays correct.
 */
export type BucketCounts = Readonly<Uint32Array>;

/** Upper bounds of the buckets that Prometheus reads, seconds. */
const PROMETHEUS_BOUNDS = [
  0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
/** Neighbouring bounds differ by at most this factor. Quantiles are off by at most its square root: 4 %. */
const GROWTH_MAX = 1.081;
const SECONDS_MIN = 1e-6;
/** Longer durations count as this long. */
const SECONDS_MAX = 3_600;

/**
 * Upper bounds of all buckets, ascending: those of Prometheus, and finer ones between them for the quantiles. One histogram
 * serves both, so that they never contradict each other.
 */
const BOUNDS = [SECONDS_MIN, ...PROMETHEUS_BOUNDS, SECONDS_MAX].flatMap((to, i, marks) =>
  divide(marks[i - 1] ?? to, to),
);

/** Returns the bounds after `from`, up to and including `to`, in equal ratios. */
function divide(from: number, to: number): number[] {
  const steps = Math.max(1, Math.ceil(Math.log(to / from) / Math.log(GROWTH_MAX)));
  const between = Array.from({ length: steps - 1 }, (_, at) => from * (to / from) ** ((at + 1) / steps));
  return [...between, to];
}

export function createDurations(): Durations {
  const counts = new Float64Array(BOUNDS.length + 1);
  let sum = 0;
  let sampled: BucketCounts | undefined;
  return {
    counts,
    get sum() {
      return sum;
    },
    observe(seconds) {
      const at = findBucket(seconds);
      counts[at] = (counts[at] ?? 0) + 1;
      sum += seconds;
      sampled = undefined;
    },
    sample() {
      sampled ??= Uint32Array.from(counts);
      return sampled;
    },
  };
}

/** Finds the first bucket that reaches up to these seconds. */
function findBucket(seconds: number): number {
  let low = 0;
  let high = BOUNDS.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (seconds > (BOUNDS[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the buckets that Prometheus reads, in its form: each also holds the durations of the buckets below it. */
export function readBuckets({
  counts,
}: Durations): { readonly le: number | '+Inf'; readonly count: number }[] {
  let sum = 0;
  const upTo = counts.map((count) => {
    sum += count;
    return sum;
  });
  return [
    ...PROMETHEUS_BOUNDS.map((le) => ({ le, count: upTo[BOUNDS.indexOf(le)] ?? 0 })),
    { le: '+Inf', count: sum },
  ];
}

/** Adds up the counts between two samples, of several series together. */
export function addIncreases(
  samples: Iterable<{ readonly before: BucketCounts | undefined; readonly after: BucketCounts | undefined }>,
): BucketCounts {
  const sums = new Uint32Array(BOUNDS.length + 1);
  for (const { before, after } of samples) {
    if (after === undefined || after === before) continue;
    for (let at = 0; at < sums.length; at++)
      sums[at] = (sums[at] ?? 0) + (after[at] ?? 0) - (before?.[at] ?? 0);
  }
  return sums;
}

/**
 * Returns the quantile by nearest rank, seconds: the shortest duration that this share of all did not exceed, within 4 %.
 * @param quantile above 0, at most 1 @returns `undefined` if nothing was counted
 */
export function findQuantile(counts: BucketCounts, quantile: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  // A tolerance far below one rank: 0.99 × 100 has to be 99, although the product of the two doubles may differ.
  const rank = Math.ceil(quantile * total - 1e-6);
  let passed = 0;
  const at = counts.findIndex((count) => {
    passed += count;
    return passed >= rank;
  });
  // The geometric middle of the bucket; for the first and the last one their only bound.
  return Math.sqrt((BOUNDS[at - 1] ?? SECONDS_MIN) * (BOUNDS[at] ?? SECONDS_MAX));
}
