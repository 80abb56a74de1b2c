import { lastMs, toLast } from './last-range.ts';
import { formatIso } from './time.ts';
import { resolveRange, type TimeRange } from './time-range.ts';

/** A range of zoomed-out years would only be empty. */
const LENGTH_MAX_MS = 3_650 * 86_400_000;

/** Share of its length by which a range that ends now may have ended before. */
const NEAR = 0.1;

/** The range as long before or after. One that reaches the present ends now, and moves on with it. */
export function shiftRange(range: TimeRange, to: 'earlier' | 'later', nowMs: number): TimeRange {
  const { fromMs, untilMs } = resolveRange(range, nowMs);
  const byMs = (untilMs - fromMs) * (to === 'earlier' ? -1 : 1);
  return toRange(fromMs + byMs, untilMs + byMs, nowMs);
}

/** A range of twice the length around it; before the present if it would reach further. */
export function zoomOut(range: TimeRange, nowMs: number): TimeRange {
  if (range.kind === 'last') {
    const twice = toLast(2 * lastMs(range.range));
    return twice === undefined ? range : { kind: 'last', range: twice };
  }
  const { fromMs, untilMs } = resolveRange(range, nowMs);
  const halfMs = Math.round((untilMs - fromMs) / 2);
  return untilMs - fromMs > LENGTH_MAX_MS ? range : toRange(fromMs - halfMs, untilMs + halfMs, nowMs);
}

/** Whether there are later events than those of a range, as far as the clock can say. */
export function hasLater(range: TimeRange, nowMs: number): boolean {
  return range.kind === 'absolute' && resolveRange(range, nowMs).untilMs < nowMs;
}

function toRange(fromMs: number, untilMs: number, nowMs: number): TimeRange {
  const lengthMs = untilMs - fromMs;
  // Some seconds have passed since the range that it once was.
  const last = nowMs - untilMs > lengthMs * NEAR ? undefined : toLast(lengthMs);
  if (last !== undefined) return { kind: 'last', range: last };
  const endMs = Math.min(untilMs, Math.max(nowMs, 0));
  return { kind: 'absolute', from: formatIso(endMs - lengthMs), until: formatIso(endMs) };
}
