import { describe, expect, test } from 'vitest';
import { toField } from '../../console/src/format/time.ts';
import {
  describeRange,
  findRangeFaults,
  QUICK_RANGES,
  readInstant,
  resolveRange,
  type TimeRange,
} from '../../console/src/format/time-range.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

const absolute = (from: string, until: string): TimeRange => ({ kind: 'absolute', from, until });

describe('a range of time', () => {
  test('that ends now moves with the clock; an absolute one stays', () => {
    expect(QUICK_RANGES.map((range) => NOW - resolveRange({ kind: 'last', range }, NOW).fromMs)).toEqual(
      [15, 60, 360, 1440, 10_080, 43_200].map((minutes) => minutes * 60_000),
    );
    expect(resolveRange({ kind: 'last', range: '6h' }, NOW + 5).untilMs).toBe(NOW + 5);
    const years = absolute('2019-01-01T00:00:00Z', '2026-11-20T12:00:00.250Z');
    expect(resolveRange(years, NOW)).toEqual({ fromMs: 1_546_300_800_000, untilMs: NOW + 250 });
  });

  test('is described with the digits that its instants have', () => {
    const describeUtc = (from: string, until: string) => describeRange(absolute(from, until), 'utc');
    expect(describeRange({ kind: 'last', range: '24h' }, 'utc')).toBe('Last 24 hours');
    expect(describeUtc('2026-11-20T07:00:00Z', '2026-11-20T08:30:00Z')).toBe('2026-11-20 07:00 – 08:30');
    expect(describeUtc('2026-11-19T07:00:00Z', '2026-11-20T08:30:05Z')).toBe(
      '2026-11-19 07:00:00 – 2026-11-20 08:30:05',
    );
    expect(describeUtc('2026-11-20T07:00:00Z', '2026-11-20T07:00:00.250Z')).toBe(
      '2026-11-20 07:00:00.000 – 07:00:00.250',
    );
  });

  test('has a fault at the field that is empty, or at the end if it is not after the start', () => {
    const [early, late] = ['2019-01-01T00:00', '2026-11-20T12:00:01'];
    expect(findRangeFaults(early, late, 'utc')).toEqual({});
    expect(Object.keys(findRangeFaults('', '', 'utc'))).toEqual(['from', 'until']);
    expect(Object.keys(findRangeFaults('', late, 'utc'))).toEqual(['from']);
    expect(findRangeFaults(late, early, 'utc')).toEqual({
      until: expect.stringContaining('later than From'),
    });
    expect(findRangeFaults(early, early, 'utc')).toEqual({
      until: expect.stringContaining('later than From'),
    });
  });
});

describe('a pasted instant', () => {
  test('is read as people and logs write it', () => {
    for (const text of [
      '2026-11-20T12:00:00Z',
      ' "2026-11-20T12:00:00.000000Z"\n',
      '2026-11-20 12:00:00,000 +0000',
      '2026-11-20T13:00+01:00',
      '1795176000',
      '1795176000000',
      '1795176000000000',
      '1795176000000000000',
    ])
      expect([text, readInstant(text, 'utc')]).toEqual([text, '2026-11-20T12:00:00Z']);
    expect(readInstant('2026-11-20', 'utc')).toBe('2026-11-20T00:00:00Z');
    expect(readInstant('2026-11-20 07:00', 'local')).toBe(
      new Date('2026-11-20T07:00').toISOString().replace('.000', ''),
    );
  });

  test('is none for other texts', () => {
    for (const text of [
      '',
      'now',
      '12:00',
      '2026-13-20',
      '2026-11-20T25:00',
      '123',
      '2026-11-20T12:00:00Zulu',
    ])
      expect([text, readInstant(text, 'utc')]).toEqual([text, '']);
  });
});

test('a field keeps years of fewer than four digits, as they are while a year is typed', () => {
  expect(toField('0002-11-20T07:00:00Z', 'utc')).toBe('0002-11-20T07:00:00');
});
