import { expect, test } from 'vitest';
import { countsPath, toSourceLines } from '../../console/src/page/overview/source-traffic.tsx';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const hour = (hours: number) => (NOW_MS - hours * 3_600_000) * 1_000;
const row = (hours: number, source: string, count: number, other = false) => ({
  ...{ timestamp: hour(hours), source, count, other },
});

test('errors of the last two hours are counted by one query over every source', () => {
  expect(Object.fromEntries(new URLSearchParams(countsPath('level:>=error', NOW_MS).split('?')[1]))).toEqual({
    ...{ q: 'level:>=error', part: 'histogram', by: 'source', buckets: '2', top: '50' },
    ...{ from: '2026-11-20T10:00:00.000Z', until: '2026-11-20T12:00:00.000Z' },
  });
});

test('the sources with the most errors come first, each with its events and the hour before; at most 20', () => {
  const all = [row(2, 'a', 50), row(1, 'a', 100), row(1, 'b', 40), row(1, 'quiet', 9)];
  const errors = [row(2, 'a', 1), row(1, 'a', 5), row(1, 'b', 20), row(2, 'over', 7), row(1, '', 99, true)];
  expect(toSourceLines(all, errors, NOW_MS)).toEqual([
    { source: 'b', errors: 20, events: 40, before: 0 },
    { source: 'a', errors: 5, events: 100, before: 1 },
    { source: 'quiet', errors: 0, events: 9, before: 0 },
  ]);
  const many = Array.from({ length: 30 }, (_, i) => row(1, `s${i}`, i));
  const first = Array.from({ length: 20 }, (_, i) => 29 - i);
  expect(toSourceLines(many, many, NOW_MS).map(({ errors: count }) => count)).toEqual(first);
});
