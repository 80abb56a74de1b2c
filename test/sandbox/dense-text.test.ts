import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { assertDepth } from '../../src/sandbox/dense-text.ts';
import { writeValue } from '../../src/sql/quote.ts';
import { trusted } from '../../src/sql/sql.ts';
import { runs, scale } from '../support/property.ts';
import { openSandbox } from './support.ts';

const { core, close } = await openSandbox();
afterAll(close);

function isRefused(sql: string): boolean {
  try {
    assertDepth(sql);
    return false;
  } catch {
    return true;
  }
}

test('words are counted up to the bound only, however long the text', () => {
  const isLong = () => assertDepth(`SELECT ${'1,'.repeat(100_000)}1`);
  expect(isLong).toThrow('must have at most 10000 words and signs; this one has 10001');
});

test.each([
  'SELECT status BETWEEN 1 AND 2 AND status BETWEEN 3 AND 4 OR status BETWEEN 5 AND 6',
  'SELECT CASE WHEN a BETWEEN 1 AND 2 THEN 1 WHEN a BETWEEN 3 AND 4 THEN 2 WHEN a BETWEEN 5 AND 6 THEN 3 END',
  'SELECT a BETWEEN 1 AND 2, b BETWEEN 1 AND 2, c BETWEEN 1 AND 2, d NOT BETWEEN 1 AND 2',
  "SELECT ' BETWEEN BETWEEN BETWEEN ((((', `between between` FROM t -- BETWEEN BETWEEN BETWEEN",
  'SELECT sum(a) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), sum(a) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)',
  'SELECT a BETWEEN 1 AND 2 FROM t WHERE a BETWEEN 1 AND 2 GROUP BY a BETWEEN 1 AND 2 HAVING a BETWEEN 1 AND 2',
  'SELECT end FROM (SELECT 1 AS end, case FROM t)',
])('is let through: %s', (sql) => {
  expect(isRefused(sql)).toBe(false);
});

test.each([
  'SELECT 1 BETWEEN 0 AND 2 BETWEEN 0 AND 2 BETWEEN 0 AND 2',
  'SELECT ((1 BETWEEN 0 AND 2) BETWEEN 0 AND 2) BETWEEN 0 AND 2',
  'SELECT 1 BETWEEN 0 AND and BETWEEN 0 AND or BETWEEN 0 AND 1',
  'SELECT 1 BETWEEN 0 AND by BETWEEN 0 AND limit BETWEEN 0 AND 1',
  'SELECT CASE WHEN CASE WHEN 1 BETWEEN 0 AND 1 THEN 1 END BETWEEN 0 AND 1 THEN 1 END BETWEEN 0 AND 1',
  `SELECT ${'('.repeat(70)} end ${')'.repeat(70)}`,
  `SELECT ${'(case '.repeat(70)}`,
])('is refused: %s', (sql) => {
  expect(isRefused(sql)).toBe(true);
});

test('what is let through is not much longer as the engine writes it', async () => {
  const word = fc.constantFrom(
    ...[
      '1',
      'x',
      'and',
      'or',
      'by',
      'end',
      'case',
      'BETWEEN 0 AND',
      'BETWEEN',
      'AND',
      'OR',
      'NOT',
      '(',
      ')',
      '[',
      ']',
      ',',
    ],
    ...['CASE WHEN', 'THEN', 'END', '-', '+', 'x BETWEEN 1 AND 2', ') BETWEEN 0 AND 1', '.1', 'AS a', 'abs('],
  );
  let written = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 40 }), async (words) => {
      const sql = `SELECT ${words.join(' ')}`;
      if (isRefused(sql)) return;
      const [row] = await core.engine
        .inspect(trusted(`SELECT length(formatQuerySingleLine(${writeValue(sql)})) AS n`))
        .catch(() => []);
      if (row === undefined) return;
      written++;
      // A BETWEEN by itself doubles its operand, and so does one around it.
      expect(Number(row['n'])).toBeLessThan(8 * sql.length + 100);
    }),
    runs(3_000),
  );
  expect(written).toBeGreaterThan(scale(50));
}, 60_000);
