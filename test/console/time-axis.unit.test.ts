import { describe, expect, test } from 'vitest';
import { findTicks, labelTicks, type OffsetAt } from '../../console/src/format/time-axis.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
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

  test('are local midnights for days, with the year where it begins', () => {
    expect(label('2026-12-29T12:00:00Z', '2027-01-03T12:00:00Z', { offsetAt: INDIA })).toEqual([
      '30 Dec\n2026',
      '31 Dec',
      '1 Jan\n2027',
      '2 Jan',
      '3 Jan',
    ]);
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

  test('name no time twice where the clock leaves an hour out', () => {
    const { times } = findTicks(at('2026-03-28T23:30:00Z'), at('2026-03-29T02:30:00Z'), {
      max: 6,
      offsetAt: BERLIN,
    });
    expect(labelTicks({ stepSeconds: 1800, times }, BERLIN)).toEqual([
      '00:30\n29 Mar',
      '01:00',
      '01:30',
      '03:00',
      '03:30',
      '04:00',
      '04:30',
    ]);
  });

  test('have seconds for short ranges, and are few for any range', () => {
    expect(label('2026-11-20T07:00:00Z', '2026-11-20T07:00:30Z', { max: 3, offsetAt: () => 0 })).toEqual([
      '07:00:00\n20 Nov',
      '07:00:10',
      '07:00:20',
      '07:00:30',
    ]);
    for (const days of [1, 3, 30, 400, 5000, 40_000])
      for (const max of [1, 3, 9]) {
        const { times } = findTicks(0, days * DAY, { max, offsetAt: BERLIN });
        expect(times.length).toBeLessThanOrEqual(max + 1);
      }
    expect(findTicks(5, 5, { max: 4, offsetAt: () => 0 }).times).toEqual([5]);
  });
});
