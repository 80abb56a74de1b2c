import { type LastRange, lastMs, parseLast } from './last-range.ts';
import { formatIso, fromField, toField, type Zone } from './time.ts';
import { readInstant, type TimeRange } from './time-range.ts';

export interface Clock {
  readonly nowMs: number;
  readonly zone: Zone;
}

/** What a text that is not a range should have been. */
export interface RangeTextFault {
  readonly kind: 'fault';
  readonly message: string;
}

/** The longest text that is read; two instants with zones have 60. */
export const RANGE_TEXT_CHARS_MAX = 120;

const EXAMPLES = 'write a range such as now-40m, last 2 days, 07:00 to 08:30, or yesterday';
const DAY_MS = 86_400_000;
// A hyphen between two ends, not the one of `now - 40 minutes`.
const ENDS = / to | until | - (?!\d+ ?[a-z])|\.\.|[–—]/;

/** Reads a range as people write it: `now-40m`, `last 2 days`, `07:00 to 08:30`, `2026-11-20 07:00 to now`, `yesterday`. */
export function readRangeText(text: string, clock: Clock): TimeRange | RangeTextFault {
  const given = text.trim().toLowerCase().slice(0, RANGE_TEXT_CHARS_MAX);
  const [start = '', end, more] = given.split(ENDS).map((part) => part.trim());
  if (more !== undefined) return fault(`"${text}" has more than two ends; ${EXAMPLES}`);
  if (end === undefined || end === 'now') {
    const last = readLength(start);
    if (last !== undefined) return { kind: 'last', range: last };
  }
  if (end === undefined && start === 'yesterday') return readEnds('yesterday', 'today', clock);
  return readEnds(start, end ?? 'now', clock);
}

/** The length in `last 40 minutes`, `now-40m`, `-40m` or `40m`. */
function readLength(text: string): LastRange | undefined {
  const [, , length = ''] = /^(now ?-|-|last |past )? ?([a-z\d ]+)$/.exec(text) ?? [];
  return parseLast(length);
}

function readEnds(start: string, end: string, clock: Clock): TimeRange | RangeTextFault {
  const [fromMs, untilMs] = [readEnd(start, clock), readEnd(end, clock)];
  if (fromMs === undefined) return fault(`"${start}" is not an instant; ${EXAMPLES}`);
  if (untilMs === undefined) return fault(`"${end}" is not an instant; ${EXAMPLES}`);
  if (fromMs >= untilMs) return fault(`"${start}" is not before "${end}"; write the earlier one first`);
  return { kind: 'absolute', from: formatIso(fromMs), until: formatIso(untilMs) };
}

/** An end of a range, in ms since the epoch. */
function readEnd(text: string, { nowMs, zone }: Clock): number | undefined {
  if (text === 'now') return nowMs;
  const length = /^(now ?-|-)/.test(text) ? readLength(text) : undefined;
  if (length !== undefined) return nowMs - lastMs(length);
  const today = toField(nowMs, zone).slice(0, 10);
  // Noon of the day before: a day of the zone may have 23 hours or 25.
  const yesterday = toField(Date.parse(fromField(`${today}T12:00`, zone)) - DAY_MS, zone).slice(0, 10);
  const isTime = /^\d{1,2}:\d\d/.test(text);
  const instant = isTime ? `${today} ${text.padStart(5, '0')}` : text;
  const day = new Map([
    ['today', today],
    ['yesterday', yesterday],
  ]).get(text);
  const ms = Date.parse(readInstant(day ?? instant.toUpperCase(), zone));
  return Number.isNaN(ms) ? undefined : ms;
}

function fault(message: string): RangeTextFault {
  return { kind: 'fault', message };
}
