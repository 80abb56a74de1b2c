import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planRefresh, type RefreshWindow } from '../../src/cache/bucket-plan.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A week in days, up to noon of day 10, kept since an hour ago; nothing has changed. */
const QUIET: RefreshWindow = {
  buckets: { width: DAY, from: 3 * DAY, first: 3 * DAY },
  now: 10.5 * DAY,
  keptNow: 10.5 * DAY - HOUR,
  unseenFrom: 10.5 * DAY - HOUR,
  lostUntil: -Infinity,
  changed: [],
};
const at = (micros: number) => ({ before: -Infinity, minutes: [Math.floor(micros / MINUTE)] });
const OPEN = { from: 10 * DAY, until: Infinity };

describe('what is computed again', () => {
  test.for<[string, Partial<RefreshWindow>, unknown]>([
    ['is the open bucket', {}, [OPEN]],
    [
      'is what was open then and all since',
      { keptNow: 9.5 * DAY, unseenFrom: 9.5 * DAY },
      [{ from: 9 * DAY, until: Infinity }],
    ],
    [
      'is a bucket that got events since',
      { changed: [at(5.5 * DAY)] },
      [{ from: 5 * DAY, until: 6 * DAY }, OPEN],
    ],
    ['takes buckets beside it along', { changed: [at(9.5 * DAY)] }, [{ from: 9 * DAY, until: Infinity }]],
    ['leaves out events from before the range', { changed: [at(2.5 * DAY)] }, [OPEN]],
    [
      'has few parts',
      {
        buckets: { width: HOUR, from: 3 * DAY, first: 3 * DAY },
        changed: [0, 2, 48].map((hour) => at(3 * DAY + hour * HOUR)),
      },
      [
        { from: 3 * DAY, until: 3 * DAY + 3 * HOUR },
        { from: 5 * DAY, until: 5 * DAY + HOUR },
        { from: 10 * DAY + 11 * HOUR, until: Infinity },
      ],
    ],
    [
      'is a first bucket that is cut',
      { buckets: { width: DAY, from: 3.5 * DAY, first: 3 * DAY } },
      [{ from: 3 * DAY, until: 4 * DAY }, OPEN],
    ],
    ['is what retention reaches', { lostUntil: 4 * DAY }, [{ from: 3 * DAY, until: 5 * DAY }, OPEN]],
    ['is not what retention reached before the range', { lostUntil: 3 * DAY - 1 }, [OPEN]],
    ['is all that may have come unseen', { unseenFrom: 8.5 * DAY }, [{ from: 8 * DAY, until: Infinity }]],
    [
      'is what is older than marks tell',
      { changed: [{ before: (4 * DAY) / MINUTE, minutes: [] }] },
      [{ from: 3 * DAY, until: 4 * DAY }, OPEN],
    ],
    ['is everything when the clock went back', { keptNow: 10.5 * DAY + 1 }, undefined],
    ['is everything when that is more than half', { unseenFrom: 6 * DAY }, undefined],
    ['is everything when the answer is too old', { keptNow: 1, unseenFrom: 1 }, undefined],
  ])('%s', ([, since, ranges]) => {
    expect(planRefresh({ ...QUIET, ...since })).toEqual(ranges);
  });

  test('holds every changed minute of the range, in few ordered parts of whole buckets', () => {
    const minute = fc.integer({ min: 0, max: (11 * DAY) / MINUTE });
    fc.assert(
      fc.property(
        fc.array(minute, { maxLength: 12 }),
        fc.constantFrom(HOUR, DAY, 7 * HOUR),
        (minutes, width) => {
          const first = Math.floor((3.5 * DAY) / width) * width;
          const buckets = { width, from: 3.5 * DAY, first };
          const changed = [{ before: -Infinity, minutes }];
          const ranges = planRefresh({ ...QUIET, buckets, changed });
          if (ranges === undefined) return;
          expect(ranges.length).toBeLessThanOrEqual(3);
          for (const [i, { from, until }] of ranges.entries()) {
            expect([from % width, until === Infinity ? 0 : until % width]).toEqual([0, 0]);
            expect(from).toBeGreaterThan(ranges[i - 1]?.until ?? first - 1);
          }
          for (const one of minutes.map((m) => m * MINUTE).filter((micros) => micros >= first))
            expect(ranges.some(({ from, until }) => one >= from && one < until)).toBe(true);
        },
      ),
    );
  });
});
