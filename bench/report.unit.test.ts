import { expect, test } from 'vitest';
import { describeRows } from './report.ts';

const ROW = { name: 'logs', unit: 'ms', values: [7], goal: { below: 8 } };

/** The cells of each row of the table. */
const cellsOf = (rows: Parameters<typeof describeRows>[0]) =>
  describeRows(rows)
    .split('\n')
    .filter((line) => line.startsWith('│'))
    .slice(1)
    .map((line) =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

test('marks rows of a busy machine with its load average', () => {
  const loads = [0.4, 1, 2.34].map((load) => cellsOf([{ ...ROW, load }])[0]?.at(-1));
  expect(loads).toEqual(['yes', 'yes', 'yes, load 2.3']);
  const { goal: _, ...compared } = ROW;
  expect(cellsOf([{ ...compared, load: 12 }])[0]?.at(-1)).toBe('load 12.0');
});

test('shows why a row has no value', () => {
  const reason = 'needs 250 GB';
  expect(cellsOf([{ ...ROW, values: [], reason }])).toEqual([['logs', '', '', reason, 'ms', '< 8', '']]);
});
