import { parseLast } from '../../format/last-range.ts';
import { QUICK_RANGES, type TimeRange } from '../../format/time-range.ts';

const NAME = 'tailrace.ranges';
const COUNT_MAX = 5;

/** Keeps a range among the last ones of this browser, unless it is one click away anyway. */
export function keepRange(range: TimeRange): void {
  if (range.kind === 'last' && QUICK_RANGES.includes(range.range)) return;
  const text = formatRange(range);
  const texts = [text, ...readTexts().filter((other) => other !== text)].slice(0, COUNT_MAX);
  localStorage.setItem(NAME, JSON.stringify(texts));
}

/** The last ranges, the newest first. */
export function readRanges(): readonly TimeRange[] {
  return readTexts().flatMap(parseRange);
}

/** `40m`, or both ends as an interval of ISO 8601. */
export function formatRange(range: TimeRange): string {
  return range.kind === 'last' ? range.range : `${range.from}/${range.until}`;
}

function parseRange(text: string): readonly TimeRange[] {
  const [from = '', until] = text.split('/');
  const last = until === undefined ? parseLast(from) : undefined;
  if (last !== undefined) return [{ kind: 'last', range: last }];
  const isRange = Date.parse(from) < Date.parse(until ?? '');
  return isRange && until !== undefined ? [{ kind: 'absolute', from, until }] : [];
}

function readTexts(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string').slice(0, COUNT_MAX) : [];
  } catch {
    return [];
  }
}
