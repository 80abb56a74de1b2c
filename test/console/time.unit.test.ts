import { describe, expect, test } from 'vitest';
import { QUICK_RANGES, readRangeText, resolveRange, type TimeRange } from '../../console/src/format/range.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

const absolute = (from: string, until: string): TimeRange => ({ kind: 'absolute', from, until });

test('a range of time that ends now moves with the clock; an absolute one stays', () => {
  expect(QUICK_RANGES.map((range) => NOW - resolveRange({ kind: 'last', range }, NOW).fromMs)).toEqual(
    [15, 60, 360, 1440, 10_080, 43_200].map((minutes) => minutes * 60_000),
  );
  expect(resolveRange({ kind: 'last', range: '6h' }, NOW + 5).untilMs).toBe(NOW + 5);
  const years = absolute('2019-01-01T00:00:00Z', '2026-11-20T12:00:00.250Z');
  expect(resolveRange(years, NOW)).toEqual({ fromMs: 1_546_300_800_000, untilMs: NOW + 250 });
});

const read = (text: string) => readRangeText(text, { nowMs: NOW, zone: 'utc' });
const onDays = (from: string, until: string): TimeRange => ({
  kind: 'absolute',
  from: `2026-11-${from}:00Z`,
  until: `2026-11-${until}:00Z`,
});

describe('a typed range', () => {
  test('ends now if only its length or its start is written', () => {
    for (const text of ['now-40m', 'now - 40 minutes', '-40m', '40m', 'last 40 min', 'NOW-40m to now'])
      expect([text, read(text)]).toEqual([text, { kind: 'last', range: '40m' }]);
  });

  test('has two ends, each relative, a time of today, or an instant', () => {
    expect(read('now-2h to now-1h')).toEqual(onDays('20T10:00', '20T11:00'));
    expect(read('7:00 – 08:30')).toEqual(onDays('20T07:00', '20T08:30'));
    expect(read('2026-11-19 07:00..now')).toEqual(onDays('19T07:00', '20T12:00'));
    expect(read('yesterday')).toEqual(onDays('19T00:00', '20T00:00'));
    expect(read('today')).toEqual(onDays('20T00:00', '20T12:00'));
    expect(read('1795176000 - 2026-11-20t12:00:01z')).toMatchObject({ until: '2026-11-20T12:00:01Z' });
  });
});
