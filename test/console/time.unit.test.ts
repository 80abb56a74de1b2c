import { describe, expect, test } from 'vitest';
import { QUICK_RANGES, readRangeText, resolveRange, type TimeRange } from '../../console/src/format/range.ts';
import { findTicks, labelTicks, type OffsetAt } from '../../console/src/format/time-axis.ts';

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

const HOUR = 3600;
const at = (iso: string) => Date.parse(iso) / 1000;
const INDIA: OffsetAt = () => 5.5 * HOUR;
/** The zone's offset by Intl: the tests run in any zone. */
const offsetIn = (timeZone: string): OffsetAt => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return (seconds) => {
    const name =
      format.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
    return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * 60);
  };
};
const BERLIN = offsetIn('Europe/Berlin');

function label(from: string, until: string, { max = 6, offsetAt }: { max?: number; offsetAt: OffsetAt }) {
  const ticks = findTicks(at(from), at(until), { max, offsetAt });
  return labelTicks(ticks, offsetAt);
}

describe('the labels of a time axis', () => {
  test('are round times of a zone at half an hour', () => {
    const ticks = findTicks(at('2026-11-20T18:00:00Z'), at('2026-11-20T23:00:00Z'), {
      max: 6,
      offsetAt: INDIA,
    });
    expect(ticks.stepSeconds).toBe(HOUR);
    expect(ticks.times[0]).toBe(at('2026-11-20T18:30:00Z'));
    expect(labelTicks(ticks, INDIA)).toEqual(['00:00\n21 Nov', '01:00', '02:00', '03:00', '04:00']);
  });

  test('stay round where the clock goes forward and back', () => {
    const forward = findTicks(at('2026-03-28T23:00:00Z'), at('2026-03-29T11:00:00Z'), {
      max: 4,
      offsetAt: BERLIN,
    });
    expect(labelTicks(forward, BERLIN)).toEqual(['00:00\n29 Mar', '03:00', '06:00', '09:00', '12:00']);
    const gaps = forward.times.slice(1).map((time, i) => (time - (forward.times[i] ?? 0)) / HOUR);
    expect(gaps).toEqual([2, 3, 3, 3]);
    expect(label('2026-10-24T22:00:00Z', '2026-10-25T11:00:00Z', { offsetAt: BERLIN })).toEqual([
      '00:00\n25 Oct',
      '03:00',
      '06:00',
      '09:00',
      '12:00',
    ]);
    expect(label('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z', { max: 4, offsetAt: BERLIN })).toEqual([
      '24 Oct\n2026',
      '25 Oct',
      '26 Oct',
      '27 Oct',
    ]);
  });
});
