import { describe, expect, test } from 'vitest';
import { findViews, suggest, type Vocabulary } from '../../console/src/ui/editor/completion.ts';

const WORDS: Vocabulary = {
  functions: ['count', 'countIf'],
  tables: [
    { name: 'auth_logs', columns: [{ name: 'id', type: 'String' }, { name: 'grant' }] },
    {
      name: 'edge_logs',
      columns: [
        { name: 'id', type: 'String' },
        { name: 'status_code', type: 'UInt16', description: 'Status of the response.' },
      ],
    },
  ],
  parameters: [{ name: 'project', type: 'string' }, { name: 'now' }],
};

/** Completions at `|`. */
function at(text: string, words = WORDS) {
  const position = text.indexOf('|');
  const { from, options } = suggest(text.replace('|', ''), position, words);
  return { word: text.slice(from, position), labels: options.map(({ label }) => label), options };
}

describe('completion of SQL', () => {
  test('offers parameters, with their @, after an @', () => {
    expect(at('SELECT 1 WHERE project = @pr|')).toMatchObject({ word: '@pr', labels: ['@project', '@now'] });
  });

  test('offers tables and the views of the text after FROM and JOIN', () => {
    const expected = ['recent', 'auth_logs', 'edge_logs'];
    expect(at('WITH recent AS (SELECT 1) SELECT 1 FROM |').labels).toEqual(expected);
    expect(at('WITH recent AS (SELECT 1) SELECT 1 FROM a JOIN ed|').labels).toEqual(expected);
  });

  test('offers the columns of a table after its name or alias and a dot', () => {
    expect(at('SELECT edge_logs.st| FROM edge_logs')).toMatchObject({
      word: 'st',
      labels: ['id', 'status_code'],
    });
    expect(at('SELECT e.| FROM edge_logs AS e').labels).toEqual(['id', 'status_code']);
    expect(at('SELECT a.| FROM edge_logs e JOIN auth_logs a ON 1').labels).toEqual(['id', 'grant']);
    expect(at('SELECT x.| FROM edge_logs').labels).toEqual([]);
  });

  test('offers each column once, those of tables in the text before all others', () => {
    const { options } = at('SELECT | FROM edge_logs');
    const columns = options.filter(({ type }) => type === 'property');
    expect(columns.map(({ label }) => label)).toEqual(['id', 'status_code', 'grant']);
    expect(columns.map(({ detail }) => detail)).toEqual([
      'String · edge_logs',
      'UInt16 · edge_logs',
      'auth_logs',
    ]);
    const boosts = columns.map(({ boost = 0 }) => boost);
    expect(boosts).toEqual([2, 2, -2]);
  });

  test('offers functions and keywords where an expression stands', () => {
    expect(at('SELECT cou|').labels).toEqual(
      expect.arrayContaining(['count', 'countIf', 'SELECT', 'edge_logs']),
    );
  });

  test('offers nothing for a number', () => {
    expect(at('SELECT 1 LIMIT 10|').labels).toEqual([]);
  });

  test('finds views behind comments, and each once', () => {
    const sql = 'WITH a AS (\n -- of now\n SELECT 1), b AS (SELECT 2), a AS (SELECT 3), c AS 5 SELECT 1';
    expect(findViews(sql)).toEqual(['a', 'b']);
  });
});
