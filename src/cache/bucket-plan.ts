import type { MinuteSet } from '../engine/write-marks.ts';
import { MICROS_PER_MINUTE, type Micros } from '../lib/instant.ts';
import { type Buckets, bucketStart, type TimeRange } from '../query/bucket-range.ts';

/** The known changes since an answer was computed. */
export interface RefreshWindow {
  /** The range of the answer to compute. */
  readonly buckets: Buckets;
  /** `@now` of that answer. */
  readonly now: Micros;
  /** `@now` of the kept answer. */
  readonly keptNow: Micros;
  /** Event time from which events may have arrived unseen. */
  readonly unseenFrom: Micros;
  /** Event time up to which retention may have hidden events. */
  readonly lostUntil: Micros;
  /** The changes of each table that the query reads. */
  readonly changed: readonly MinuteSet[];
}

// Each part is a separate query, with a fixed cost.
const RUNS_MAX = 3;
// Share of the range; beyond it one query of everything costs about as much.
const SHARE_MAX = 0.5;

/**
 * Returns the parts of an answer that have to be computed again, in order, each of whole time buckets; the last has no end. They do
 * not touch one another. The time between them has not changed.
 *
 * @returns `undefined` if one query of everything is cheaper
 */
export function planRefresh(since: RefreshWindow): TimeRange[] | undefined {
  const { buckets, now, keptNow } = since;
  if (now < keptNow) return undefined; // the clock was set back: the range begins earlier than the kept one
  const { width, first } = buckets;
  const stale = [...staleParts(since)]
    .map(({ from, until }) => ({
      from: Math.max(bucketStart(from, width), first),
      until: bucketStart(until - 1, width) + width,
    }))
    .filter(({ from, until }) => from < until);
  const runs = mergeNearest(mergeTouching(stale), RUNS_MAX);
  const end = bucketStart(now, width) + width;
  const share = runs.reduce((sum, { from, until }) => sum + Math.max(Math.min(until, end) - from, 0), 0);
  return share > SHARE_MAX * (end - first) ? undefined : runs;
}

/** Returns the ranges of event time in which the kept answer may be wrong. */
function* staleParts({
  buckets,
  keptNow,
  unseenFrom,
  lostUntil,
  changed,
}: RefreshWindow): Generator<{ from: Micros; until: Micros }> {
  const { width, from, first } = buckets;
  // The time bucket that was open then, and all later ones; events may be ahead of the clock, too.
  yield { from: Math.min(keptNow, unseenFrom), until: Number.POSITIVE_INFINITY };
  // The start of the range moves within its first time bucket, which loses events.
  if (from > first) yield { from: first, until: first + width };
  if (lostUntil >= first) yield { from: first, until: lostUntil + 1 };
  for (const { before, minutes } of changed) {
    if (before * MICROS_PER_MINUTE > first) yield { from: first, until: before * MICROS_PER_MINUTE };
    for (const minute of minutes)
      yield { from: minute * MICROS_PER_MINUTE, until: (minute + 1) * MICROS_PER_MINUTE };
  }
}

function mergeTouching(parts: readonly TimeRange[]): TimeRange[] {
  const merged: TimeRange[] = [];
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || part.from > last.until) merged.push(part);
    else merged[merged.length - 1] = { from: last.from, until: Math.max(last.until, part.until) };
  }
  return merged;
}

/** Closes the smallest gaps until there are few enough parts. */
function mergeNearest(parts: readonly TimeRange[], partsMax: number): TimeRange[] {
  const merged = [...parts];
  while (merged.length > partsMax) {
    const gaps = merged.slice(1).map((part, i) => part.from - (merged[i]?.until ?? 0));
    const at = gaps.indexOf(Math.min(...gaps));
    const [left, right] = merged.slice(at, at + 2);
    if (left === undefined || right === undefined) break; // never: there are more than one
    merged.splice(at, 2, { from: left.from, until: right.until });
  }
  return merged;
}
