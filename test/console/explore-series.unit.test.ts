import { expect, test } from 'vitest';
import { toBars } from '../../console/src/page/explore/histogram/series.ts';
import { resolveSearch } from '../../console/src/page/explore/search/search.ts';

const MINUTE_MS = 60_000;
const NOW_MS = Date.parse('2026-11-20T12:34:20Z');
const ASKED = { q: '', source: [], project: '', from: undefined, until: undefined };
const SEARCH = resolveSearch({ ...ASKED, range: '1h' }, NOW_MS, 0);

test('bars are stacked by level from the worst, with those without events, and the running minute is partial', () => {
  const startMs = SEARCH.fromMs + MINUTE_MS;
  const bars = toBars(
    [
      { startMs, value: 'info', count: 5 },
      { startMs, value: 'error', count: 2 },
      { startMs: startMs + MINUTE_MS, value: null, count: 1 },
    ],
    SEARCH,
    { by: 'level' },
  );
  expect(bars.total).toBe(8);
  expect(bars.starts).toHaveLength(61);
  expect(bars.series.map(({ label, total, color }) => [label, total, color])).toEqual([
    ['error', 2, 'data-bad'],
    ['info', 5, 'data-1'],
    ['no level', 1, 'border-control'],
  ]);
  expect(bars.series[0]?.counts.slice(0, 3)).toEqual([0, 2, 0]);
  expect(bars.partial.flatMap((isPartial, i) => (isPartial ? [i] : []))).toEqual([60]);
});

test('the first and the last bar of a chosen range are partial if it cuts them', () => {
  const times = { from: '2026-11-20T07:00:30Z', until: '2026-11-20T07:59:30Z' };
  const search = resolveSearch({ ...ASKED, range: undefined, ...times }, NOW_MS, 0);
  const { partial } = toBars([], search, { by: 'level' });
  expect(partial).toHaveLength(60);
  expect(partial.flatMap((isPartial, i) => (isPartial ? [i] : []))).toEqual([0, 59]);
});

test('of many values the most frequent have series of their own', () => {
  const counts = Array.from({ length: 12 }, (_, i) => ({
    startMs: SEARCH.fromMs,
    value: `v${i}`,
    count: 100 - i,
  }));
  const { series, total } = toBars(
    [...counts, { startMs: SEARCH.fromMs, value: undefined, count: 1 }],
    SEARCH,
    { by: 'source' },
  );
  expect(series.map(({ label }) => label)).toEqual([
    ...Array.from({ length: 8 }, (_, i) => `v${i}`),
    'other values',
  ]);
  expect(series.reduce((sum, one) => sum + (one.total ?? 0), 0)).toBe(total);
});

test('statuses of one class have shades of one colour', () => {
  const counts = ['200', '206', '404', '201'].map((value, i) => ({
    startMs: SEARCH.fromMs,
    value,
    count: 10 - i,
  }));
  const { series } = toBars(counts, SEARCH, { by: 'response.status_code' });
  expect(series.map(({ label, color, alpha }) => [label, color, alpha])).toEqual([
    ['200', 'data-1', 1],
    ['206', 'data-1', 0.65],
    ['404', 'data-3', 1],
    ['201', 'data-1', 0.4],
  ]);
});
