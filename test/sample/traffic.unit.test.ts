import { describe, expect, test } from 'vitest';
import { createOutages, spreadInstants } from '../../src/sample/traffic.ts';
import { END, hoursOfDay } from './support.ts';

const MINUTE_MICROS = 60_000_000;
const DAY_MICROS = 1_440 * MINUTE_MICROS;

describe('spreadInstants', () => {
  test.each([0, 1, 2, 9, 1_000, 33_333])('gives exactly %i instants', (rows) => {
    expect([...spreadInstants({ rows, days: 3, end: END, seed: 'a' })]).toHaveLength(rows);
  });

  test('puts the only event of a small sample into the last five minutes', () => {
    const [only = 0] = spreadInstants({ rows: 1, days: 90, end: END, seed: 'a' });
    expect(only).toBeGreaterThan(END - 5 * MINUTE_MICROS);
    expect(only).toBeLessThanOrEqual(END);
  });

  test('gives afternoons far more than nights and working days more than Sundays', () => {
    const hours = new Array<number>(24).fill(0);
    const days = new Map<number, number>();
    for (const at of spreadInstants({ rows: 70_000, days: 7, end: END, seed: 'b' })) {
      const date = new Date(at / 1000);
      hours[date.getUTCHours()] = (hours[date.getUTCHours()] ?? 0) + 1;
      days.set(date.getUTCDay(), (days.get(date.getUTCDay()) ?? 0) + 1);
    }
    const between = (from: number, to: number) => hours.slice(from, to).reduce((sum, one) => sum + one, 0);
    expect(between(12, 16)).toBeGreaterThan(3 * between(0, 4));
    expect(days.get(3)).toBeGreaterThan(1.3 * (days.get(0) ?? 0));
  });
});

test.each(hoursOfDay())(
  'there are several times as many events in the last hour as in one at night, at %s',
  (end) => {
    const instants = [...spreadInstants({ rows: 50_000, days: 7, end, seed: 'd' })];
    const recent = instants.filter((at) => at > end - 60 * MINUTE_MICROS).length;
    const average = instants.length / (7 * 24);
    expect(recent / average).toBeGreaterThan(3);
    expect(recent / average).toBeLessThan(6);
  },
);

describe('createOutages', () => {
  test.each([1, 2, 7, 90])(
    'gives each project an outage of 15 to 45 minutes about every two days of %i, and one in the last hour',
    (days) => {
      const isFailing = createOutages({ projects: 3, days, end: END, seed: 'c' });
      for (const project of [0, 1, 2]) {
        const lengths = runs(days, (at) => isFailing(project, at));
        expect(lengths).toHaveLength(Math.ceil(days / 2) + 1);
        expect(Math.min(...lengths)).toBeGreaterThanOrEqual(15);
        expect(Math.max(...lengths)).toBeLessThanOrEqual(46);
        const recent = runs(1 / 24, (at) => isFailing(project, at));
        expect(recent).toEqual(lengths.slice(-1));
      }
    },
  );
});

/** How many minutes each outage lasts. */
function runs(days: number, isFailing: (at: number) => boolean): number[] {
  const lengths: number[] = [];
  let length = 0;
  for (let at = END - days * DAY_MICROS; at <= END; at += MINUTE_MICROS) {
    if (isFailing(at)) length++;
    else if (length > 0) {
      lengths.push(length);
      length = 0;
    }
  }
  return lengths;
}
