import { describe, expect, test } from 'vitest';
import { findOptionalConditions } from '../../src/sql/optional-condition.ts';
import { applyEdits } from '../../src/sql/parse.ts';

const decide = (sql: string, empty: boolean) =>
  applyEdits(
    sql,
    findOptionalConditions(sql).map(({ ifEmpty, ifGiven }) => (empty ? ifEmpty : ifGiven)),
  );

describe('an optional condition', () => {
  test.each([
    [
      "SELECT a FROM t WHERE x AND (@p = '' OR b = @p) GROUP BY a",
      'SELECT a FROM t WHERE x  GROUP BY a',
      'SELECT a FROM t WHERE x AND (b = @p) GROUP BY a',
    ],
    [
      "SELECT (SELECT 1 WHERE x AND (@p = '' OR y OR z)) FROM t",
      'SELECT (SELECT 1 WHERE x ) FROM t',
      'SELECT (SELECT 1 WHERE x AND (y OR z)) FROM t',
    ],
    [
      'SELECT a FROM t WHERE x AND (@p IS NULL OR b < @p)',
      'SELECT a FROM t WHERE x ',
      'SELECT a FROM t WHERE x AND (b < @p)',
    ],
  ])('is decided in %j', (sql, empty, given) => {
    expect(decide(sql, true)).toBe(empty);
    expect(decide(sql, false)).toBe(given);
  });

  test.each([
    "SELECT x AND (@p = '' OR y) AS z FROM t",
    "SELECT a FROM t WHERE (@p = '' OR y)",
    "SELECT a FROM t WHERE x OR (@p = '' OR y)",
    "SELECT a FROM t WHERE x AND NOT (@p = '' OR y)",
    "SELECT a FROM t WHERE x BETWEEN 1 AND (@p = '' OR y)",
    "SELECT a FROM t WHERE x AND (@p = '' OR y) = 0",
    "SELECT a FROM t WHERE x AND (@p = ' ' OR y)",
    "SELECT 'WHERE x AND (@p = \\'\\' OR y)' FROM t",
  ])('is left as it is in %j', (sql) => {
    expect(decide(sql, true)).toBe(sql);
    expect(findOptionalConditions(sql)).toEqual([]);
  });
});
