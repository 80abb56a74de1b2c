import { describe, expect, test } from 'vitest';
import { applyEdits } from '../../src/sql/parse.ts';
import { findWithList, removeUnused } from '../../src/sql/with-list.ts';

/** The list with each view's SELECT between `<` and `>`, and the names of the views. */
function wrap(sql: string) {
  const list = findWithList(sql);
  if (list === undefined) return undefined;
  const edits = list.views.map(({ select }) => ({
    ...select,
    text: `<${sql.slice(select.start, select.end)}>`,
  }));
  const text = applyEdits(sql.slice(0, list.end), edits);
  return { views: list.views.map(({ name }) => name), sql: text };
}

const dropUnused = (sql: string) => applyEdits(sql, removeUnused(sql));

describe('the WITH list of a query', () => {
  test('ends before the SELECT, whatever texts and comments hold', () => {
    const found = wrap("WITH a AS (SELECT ') SELECT' /* ) */) SELECT 3 -- (");
    expect(found).toEqual({ views: ['a'], sql: "WITH a AS (<SELECT ') SELECT' /* ) */>) " });
  });

  test.each(['SELECT 1', 'WITH 1 AS x SELECT x', '(WITH a AS (SELECT 1) SELECT 2)', 'WITH a AS (SELECT 1'])(
    'is none in %j',
    (sql) => {
      expect(wrap(sql)).toBeUndefined();
    },
  );
});

describe('what nothing reads', () => {
  test.each([
    ['WITH a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM b', 'WITH  b AS (SELECT 2) SELECT * FROM b'],
    ['WITH a AS (SELECT 1), b AS (SELECT * FROM a), 1 AS x SELECT x', 'WITH   1 AS x SELECT x'],
    [
      'WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM b WHERE n < 3) SELECT n FROM b',
      'WITH RECURSIVE  b AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM b WHERE n < 3) SELECT n FROM b',
    ],
  ])('%j becomes %j', (sql, dropped) => {
    expect(dropUnused(sql)).toBe(dropped);
  });

  test.each([
    'WITH a AS (SELECT 1) SELECT 2',
    'WITH a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM `a`, "b"',
    'WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b',
    'WITH (1 AS x) + 2 AS y, 3 AS z SELECT x, z',
    'WITH a AS (SELECT 1), 1 AS x SELECT * FROM `\\x61`',
  ])('%j stays as it is', (sql) => {
    expect(dropUnused(sql)).toBe(sql);
  });
});
