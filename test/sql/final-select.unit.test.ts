import { describe, expect, test } from 'vitest';
import { findFinalSelect } from '../../src/sql/final-select.ts';

describe('the final SELECT of a query', () => {
  test.each([
    ['SELECT a, b + 1 AS c FROM t', ['a', 'c'], 'FROM t', undefined],
    ['SELECT 1 AS one', ['one'], '', undefined],
    ['select 1 as one limit 5', ['one'], '', 5],
    ['WITH v AS (SELECT 1 AS x, 2) SELECT x FROM v LIMIT 10 -- the end', ['x'], 'FROM v', 10],
    ['WITH f(a, b) AS c SELECT c, [c, 1] AS d FROM t ORDER BY c', ['c', 'd'], 'FROM t ORDER BY c', undefined],
    ["SELECT concat('a, b AS x FROM y', z) AS w FROM t /* LIMIT 3 */", ['w'], 'FROM t', undefined],
    ['SELECT (SELECT max(a) FROM t) AS m FROM t GROUP BY b', ['m'], 'FROM t GROUP BY b', undefined],
  ])('of %j', (sql, names, after, limit) => {
    const found = findFinalSelect(sql);
    expect(found?.items.map(({ name }) => name)).toEqual(names);
    expect(found?.after).toBe(after);
    expect(found?.limit).toBe(limit);
  });

  test('keeps what stands before the list, and each item as it is written', () => {
    const found = findFinalSelect('WITH 1 AS x\nSELECT x, -- comment\n  x + 1 AS y FROM t');
    expect(found?.before).toBe('WITH 1 AS x\nSELECT');
    expect(found?.items).toEqual([
      { name: 'x', sql: 'x' },
      { name: 'y', sql: 'x + 1 AS y' },
    ]);
  });

  test.each([
    'SELECT * FROM t',
    'SELECT a.b FROM t',
    'SELECT a b FROM t',
    'SELECT `a` FROM t',
    'SELECT a AS "b" FROM t',
    'SELECT a, FROM t',
    'SELECT DISTINCT a FROM t',
    'SELECT a FROM t UNION ALL SELECT a FROM u',
    'SELECT a FROM t EXCEPT SELECT a FROM u',
    '(SELECT a FROM t)',
    'FROM t SELECT a',
    'SELECT a FROM t LIMIT 5 OFFSET 2',
    'SELECT a FROM t LIMIT 1, 5',
    'SELECT a FROM t LIMIT 5 BY a',
    'SELECT a FROM t LIMIT -1',
    'SELECT a FROM t LIMIT 5 WITH TIES',
    'SELECT a FROM t LIMIT n',
    'SELECT a, count() AS n FROM t GROUP BY a WITH TOTALS',
    'SELECT a FROM t ORDER BY a WITH FILL',
    'SELECT a FROM t SETTINGS max_threads = 1',
    'SELECT a FROM t FORMAT JSON',
    'SELECT a AS b WHERE b',
    'SELECT a FROM t)',
    'SELECT a FROM (t',
    'INSERT INTO t SELECT a FROM u',
    '',
  ])('is left as it is in %j', (sql) => {
    expect(findFinalSelect(sql)).toBeUndefined();
  });

  test.each([
    ['SELECT a FROM t ORDER BY 1', true],
    ['SELECT a FROM t GROUP BY ALL', true],
    ['SELECT a FROM t ORDER BY (1) DESC', true],
    ['SELECT a FROM t GROUP BY a, ((0x1))', true],
    ['SELECT a FROM t WHERE b > now() - toIntervalDay(7) ORDER BY f(a, 1)', false],
    ['SELECT a FROM t ORDER BY a', false],
  ])('%j counts items: %j', (sql, counts) => {
    expect(findFinalSelect(sql)?.countsItems).toBe(counts);
  });
});
