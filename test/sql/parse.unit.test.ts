import { describe, expect, test } from 'vitest';
import { parseSql } from '../../src/sql/parse.ts';

/** Each word with a property of it. */
function wordsWith<Name extends 'key' | 'depth' | 'pair' | 'clause'>(sql: string, name: Name) {
  return parseSql(sql).words.map((word) => [word.text, word[name]]);
}

describe('the words of a query', () => {
  test('have a key if they may be keywords', () => {
    expect(wordsWith('Select \'a\' "b" @c -- d\n(', 'key')).toEqual([
      ['Select', 'SELECT'],
      ["'a'", ''],
      ['"b"', ''],
      ['@c', ''],
      ['(', '('],
    ]);
  });

  test('leave out comments, which have their places', () => {
    expect(parseSql('1 /* 2 */ 3 -- 4').comments.map(({ start, end }) => [start, end])).toEqual([
      [2, 9],
      [12, 16],
    ]);
  });

  test('know the brackets around them, and each bracket its other one', () => {
    expect(wordsWith('a (b [c])', 'depth').map(([, depth]) => depth)).toEqual([0, 0, 1, 1, 2, 1, 0]);
    expect(wordsWith('a (b [c])', 'pair').map(([, pair]) => pair)).toEqual([-1, 6, -1, 5, -1, 3, 1]);
  });

  test('know their clause, which brackets do not end', () => {
    const { words } = parseSql('SELECT (SELECT a) FROM b WHERE c (d) AND e');
    const clauses = words.map(({ text, clause }) => `${text} ${words[clause]?.text ?? ''}`);
    expect(clauses.join(', ')).toBe(
      'SELECT , ( SELECT, SELECT , a SELECT, ) SELECT, FROM SELECT, b FROM, WHERE FROM, c WHERE, ( WHERE, d , ) WHERE, AND WHERE, e WHERE',
    );
  });
});
