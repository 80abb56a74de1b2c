/** A part of a range: `from` inclusive, `until` exclusive, ms since the epoch; fractions are microseconds. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Grid extends Slice {
  readonly widthMs: number;
  readonly offsetMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const WIDTHS_MS: readonly number[] = [
  ...[1, 5, 10, 50, 100, 500],
  ...[1, 5, 10, 30].map((count) => count * SECOND_MS),
  ...[1, 5, 10, 30].map((count) => count * MINUTE_MS),
  ...[1, 3, 6, 12].map((count) => count * HOUR_MS),
  DAY_MS,
];
const BUCKETS_MAX = 75;
/** Longer ranges are searched slice by slice. */
const SLICED_MS = DAY_MS;
const SLICES_MAX = 12;

/** The width of a time bucket for a range: a round one, so that there are 15 to 75. */
export function chooseWidthMs(lengthMs: number): number {
  const days = Math.max(1, Math.ceil(lengthMs / BUCKETS_MAX / DAY_MS) || 1);
  return WIDTHS_MS.find((width) => lengthMs / width <= BUCKETS_MAX) ?? days * DAY_MS;
}

export function floorTo(ms: number, widthMs: number, offsetMs: number): number {
  return Math.floor((ms + offsetMs) / widthMs) * widthMs - offsetMs;
}

export function ceilTo(ms: number, widthMs: number, offsetMs: number): number {
  return Math.ceil((ms + offsetMs) / widthMs) * widthMs - offsetMs;
}

/** Slices of a range, newest first, which meet between two time buckets. The service rejects a range without a length. */
export function planSlices({ fromMs, untilMs, widthMs, offsetMs }: Grid): readonly Slice[] {
  // A day of whole time buckets may be longer by two of them.
  if (!(untilMs - fromMs > SLICED_MS + 2 * widthMs)) return [{ fromMs, untilMs }];
  const end = ceilTo(untilMs, widthMs, offsetMs);
  const buckets = Math.ceil((end - fromMs) / widthMs);
  const count = Math.min(SLICES_MAX, Math.round((end - fromMs) / SLICED_MS));
  const lengthMs = Math.ceil(buckets / count) * widthMs;
  const slices: Slice[] = [];
  for (let until = end; until > fromMs; until -= lengthMs)
    slices.push({ fromMs: Math.max(fromMs, until - lengthMs), untilMs: Math.min(untilMs, until) });
  return slices;
}

export interface Count extends Slice {
  readonly buckets: number;
}

/**
 * The counts that make a slice's time buckets, newest first. The service's time buckets begin with the range: those that the bounds
 * cut are counted by themselves, so that the others are whole.
 */
export function planCounts(
  { fromMs, untilMs }: Slice,
  { widthMs, offsetMs }: Omit<Grid, keyof Slice>,
): Count[] {
  const first = ceilTo(fromMs, widthMs, offsetMs);
  const last = floorTo(untilMs, widthMs, offsetMs);
  if (!(first <= last)) return [{ fromMs, untilMs, buckets: 1 }];
  return [
    { fromMs: last, untilMs, buckets: 1 },
    { fromMs: first, untilMs: last, buckets: Math.round((last - first) / widthMs) },
    { fromMs, untilMs: first, buckets: 1 },
  ].filter((count) => count.fromMs < count.untilMs);
}
