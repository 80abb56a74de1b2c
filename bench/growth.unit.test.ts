import { expect, test } from 'vitest';
import { withGrowth } from './growth.ts';

const row = (name: string, value: number, growth?: number | 'rows') => ({
  name,
  unit: 'ms',
  values: [value],
  ...(growth !== undefined && { growth }),
});

test('names the size of every row and adds how those grew that say by how much they may', () => {
  const rows = withGrowth([
    { size: 10_000_000, rows: [row('logs', 12, 1.5), row('stats', 50, 'rows'), row('disk', 90)] },
    { size: 500_000, rows: [row('logs', 10, 1.5), row('stats', 5, 'rows'), row('disk', 100)] },
  ]);
  expect(rows.slice(0, 6).map(({ name }) => name)).toEqual([
    '10 M: logs',
    '10 M: stats',
    '10 M: disk',
    '500,000: logs',
    '500,000: stats',
    '500,000: disk',
  ]);
  expect(rows.slice(6)).toEqual([
    { name: 'growth 500,000 → 10 M: logs', unit: 'ratio', values: [1.2], goal: { below: 1.5 } },
    { name: 'growth 500,000 → 10 M: stats', unit: 'ratio', values: [10], goal: { below: 20 } },
  ]);
});

test('marks a growth with the larger load average of the two', () => {
  const rows = withGrowth([
    { size: 1_000_000, rows: [{ ...row('logs', 1, 1.5), load: 2.3 }] },
    { size: 2_000_000, rows: [{ ...row('logs', 1, 1.5), load: 0.4 }] },
  ]);
  expect(rows.at(-1)?.load).toBe(2.3);
});

test('has no growth of one size, nor of what was measured with one size only', () => {
  expect(withGrowth([{ size: 1_000_000, rows: [row('logs', 1, 1.5)] }])).toHaveLength(1);
  const rows = withGrowth([
    { size: 1_000_000, rows: [] },
    { size: 2_000_000, rows: [row('logs', 1, 1.5)] },
  ]);
  expect(rows).toHaveLength(1);
});
