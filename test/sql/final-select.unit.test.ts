import { describe, expect, test } from 'vitest';
import { findFinalSelect } from '../../src/sql/final-select.ts';

describe('the final SELECT of a query', () => {
  test.each([
    ['SELECT a, b + 1 AS c FROM t', ['a', 'c'], 'FROM t', undefined],
    ['WITH v AS (SELECT 1 AS x, 2) SELECT x FROM v LIMIT 10 -- the end', ['x'], 'FROM v', 10],
    ['WITH f(a, b) AS c SELECT c, [c, 1] AS d FROM t ORDER BY c', ['c', 'd'], 'FROM t ORDER BY c', undefined],
    ["SELECT concat('a, b AS x FROM y', z) AS w FROM t /* LIMIT 3 */", ['w'], 'FROM t', undefined],
  ])('of %j', (sql, names, after, limit) => {
    const found = findFinalSelect(sql);
    expect(found?.items.map(({ name }) => name)).toEqual(names);
    expect(found?.after).toBe(after);
    expect(found?.limit).toBe(limit);
  });

  test.each([
    'SELECT * FROM t',
    'SELECT DISTINCT a FROM t',
    'SELECT a FROM t UNION ALL SELECT a FROM u',
    'SELECT a FROM t LIMIT 5 OFFSET 2',
    'SELECT a, count() AS n FROM t GROUP BY a WITH TOTALS',
    'SELECT a FROM t ORDER BY a WITH FILL',
    'SELECT a FROM (t',
  ])('is left as it is in %j', (sql) => {
    expect(findFinalSelect(sql)).toBeUndefined();
  });
});
