import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTable, TABLE_COLUMNS_MAX } from '../../src/cli/table.ts';

const HEAD = ['time', 'what', 'key', 'by', 'times', 'detail'];
const widthOf = (table: string) => Math.max(...table.split('\n').map((line) => [...line].length));

test('a table of short cells is as wide as they are', () => {
  expect(formatTable(['a', 'b'], [['one', 2]])).toBe(
    '┌─────┬───┐\n│ a   │ b │\n├─────┼───┤\n│ one │ 2 │\n└─────┴───┘',
  );
});

test('a cell cannot control the terminal', () => {
  expect(formatTable(['a'], [['\x1b[2J\r\ttext']])).toContain('│ \ufffd[2J\ufffd\ufffdtext │');
});

test('a table fits 100 columns and loses no letter, whatever its cells hold', () => {
  const cell = fc.stringMatching(/^[a-z="; ]{0,300}$/);
  const row = fc.tuple(cell, cell, cell, cell, fc.nat(), cell);
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
      const table = formatTable(HEAD, rows);
      expect(widthOf(table)).toBeLessThanOrEqual(TABLE_COLUMNS_MAX);
      const letters = (text: string) => [...text.replaceAll(/[^a-z0-9=";]/g, '')].sort().join('');
      expect(letters(table)).toBe(letters([...HEAD, ...rows.flat()].join('')));
    }),
  );
});
