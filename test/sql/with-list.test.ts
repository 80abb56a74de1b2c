import { describe, expect, test } from 'vitest';
import { findWithList } from '../../src/sql/with-list.ts';

const wrap = (sql: string) => findWithList(sql, (select) => `<${select}>`);

describe('the WITH list of a query', () => {
  test.each([
    ['WITH a AS (SELECT 1) SELECT 2', 'WITH a AS (<SELECT 1>) ', ['a']],
    ['with `a` as (select 1), b AS (WITH c AS (SELECT 1) SELECT 2) select 3', undefined, ['a', 'b']],
    [
      'WITH 1 AS x, (SELECT 2) AS y, a AS (SELECT x) SELECT 3',
      'WITH 1 AS x, (SELECT 2) AS y, a AS (<SELECT x>) ',
      ['a'],
    ],
    ['WITH a (b, c) AS (SELECT 1, 2) SELECT 3', 'WITH a (b, c) AS (<SELECT 1, 2>) ', ['a']],
    [
      "WITH a AS (SELECT ') SELECT' /* ) */) SELECT 3 -- (",
      "WITH a AS (<SELECT ') SELECT' /* ) */>) ",
      ['a'],
    ],
    [
      'WITH [1, 2] AS l, a AS (SELECT (1), [2]) SELECT 3',
      'WITH [1, 2] AS l, a AS (<SELECT (1), [2]>) ',
      ['a'],
    ],
    ['-- c\nWITH a AS -- d\n (SELECT 1) SELECT 2', '-- c\nWITH a AS -- d\n (<SELECT 1>) ', ['a']],
  ])('of %j', (sql, text, views) => {
    const found = wrap(sql);
    expect(found?.views).toEqual(views);
    if (text !== undefined) expect(found?.sql).toBe(text);
  });

  test.each([
    'SELECT 1',
    '',
    'WITH 1 AS x SELECT x',
    'WITH a AS (SELECT 1)',
    '(WITH a AS (SELECT 1) SELECT 2)',
    'WITH a AS (SELECT 1',
    "WITH 'a AS (SELECT 1) SELECT 2",
  ])('is none in %j', (sql) => {
    expect(wrap(sql)).toBeUndefined();
  });
});
