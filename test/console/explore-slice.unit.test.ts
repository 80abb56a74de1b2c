import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNext } from '../../console/src/api/answer.ts';
import { resolveSearch, searchPath } from '../../console/src/page/explore/search/search.ts';
import { planCounts, planSlices } from '../../console/src/page/explore/search/slice.ts';

const NOW_MS = Date.parse('2026-11-20T12:34:56.789Z');
const HOUR_MS = 3_600_000;
const LAST = { q: '', source: [], project: '', from: undefined, until: undefined };

describe('a range', () => {
  test.each([
    ['15m', 30_000, 1],
    ['1h', 60_000, 1],
    ['6h', 300_000, 1],
    ['24h', 1_800_000, 1],
    ['7d', 10_800_000, 7],
    ['30d', 43_200_000, 11],
  ] as const)('of the last %s has time buckets of %i ms, in %i slices', (range, widthMs, slices) => {
    const search = resolveSearch({ ...LAST, range }, NOW_MS, HOUR_MS);
    expect(search.widthMs).toBe(widthMs);
    expect((search.fromMs + HOUR_MS) % widthMs).toBe(0);
    expect(search.untilMs).toBeGreaterThanOrEqual(NOW_MS);
    expect(planSlices(search)).toHaveLength(slices);
    for (const slice of planSlices(search)) expect(planCounts(slice, search)).toHaveLength(1);
  });

  test('of a range beyond what the service can tell apart are within that', () => {
    const times = { from: '0001-01-01T00:00:00Z', until: '9999-01-01T00:00:00Z' };
    const slices = planSlices(resolveSearch({ ...LAST, range: undefined, ...times }, NOW_MS, 0));
    expect(new Date(slices[0]?.untilMs ?? 0).getUTCFullYear()).toBe(2255);
    expect(new Date(slices.at(-1)?.fromMs ?? 0).toISOString()).toBe('1900-01-01T00:00:00.000Z');
  });

  test('that was chosen keeps its bounds; the time buckets that they cut are counted by themselves', () => {
    const times = { from: '2026-11-20T07:03:20.000Z', until: '2026-11-20T09:11:05.000Z' };
    const search = resolveSearch({ ...LAST, range: undefined, ...times }, NOW_MS, 0);
    const counts = planCounts(search, search);
    expect(search.widthMs).toBe(300_000);
    expect(counts.map(({ fromMs, buckets }) => [new Date(fromMs).toISOString(), buckets])).toEqual([
      ['2026-11-20T09:10:00.000Z', 1],
      ['2026-11-20T07:05:00.000Z', 25],
      [times.from, 1],
    ]);
  });

  test('is covered by slices and counts without gaps, newest first, each time bucket once', () => {
    const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) });
    const lengths = fc.oneof(fc.integer({ min: 1, max: 90_000_000 }), fc.integer({ min: 1, max: 4e11 }));
    const offsets = fc.constantFrom(0, HOUR_MS, -5.5 * HOUR_MS);
    fc.assert(
      fc.property(instants, lengths, offsets, (fromMs, lengthMs, offsetMs) => {
        const [from, until] = [fromMs, fromMs + lengthMs].map((ms) => new Date(ms).toISOString());
        const search = resolveSearch({ ...LAST, range: undefined, from, until }, NOW_MS, offsetMs);
        const slices = planSlices(search);
        expect(slices.length).toBeLessThanOrEqual(12);
        const counts = slices.flatMap((slice) => planCounts(slice, search));
        for (const parts of [slices, counts]) {
          expect(parts[0]?.untilMs).toBe(search.untilMs);
          expect(parts.at(-1)?.fromMs).toBe(search.fromMs);
          parts.slice(1).forEach((part, i) => {
            expect(part.untilMs).toBe(parts[i]?.fromMs);
            expect((part.untilMs + offsetMs) % search.widthMs).toBe(0);
          });
        }
        for (const { fromMs: start, untilMs: end, buckets } of counts)
          expect(buckets === 1 || (end - start) / buckets === search.widthMs).toBe(true);
        expect(counts.reduce((sum, { buckets }) => sum + buckets, 0)).toBeLessThanOrEqual(80);
      }),
    );
  });

  test('that is upside down is left to the service, which says so', () => {
    const times = { from: '2026-11-20T09:00:00Z', until: '2026-11-20T07:00:00Z' };
    const search = resolveSearch({ ...LAST, range: undefined, ...times }, NOW_MS, 0);
    expect(planSlices(search)).toEqual([{ fromMs: search.fromMs, untilMs: search.untilMs }]);
    expect(planCounts(search, search)).toMatchObject([{ buckets: 1 }]);
  });
});

test('a request has what is set, and the cursor of the page before', () => {
  const search = { q: 'a b', source: ['x', 'y'], project: '' };
  expect(searchPath(search, { fromMs: 0, untilMs: 1 }, { cursor: 'c' })).toBe(
    '/api/search?q=a+b&source=x%2Cy&from=1970-01-01T00%3A00%3A00.000Z&until=1970-01-01T00%3A00%3A00.001Z&cursor=c',
  );
  expect(findNext(new Headers({ link: '</api/search?q=a&cursor=x%2By>; rel="next"' }))).toBe('x+y');
  expect(findNext(new Headers())).toBeUndefined();
});
