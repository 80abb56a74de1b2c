import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { findForms } from '../../src/sandbox/form.ts';
import { findWithList } from '../../src/sql/with-list.ts';

const SHIPPED = readFileSync(new URL('../../studio/endpoints/logs.all/query.sql', import.meta.url), 'utf8');

// Only these fields are read.
const endpoint = (sql: string, dialect?: object) => ({ sql, hash: 'h', dialect }) as unknown as Endpoint;
const studio = { name: 'studio', tables: new Map() };

function readViews(sql: string) {
  const views = findWithList(sql)?.views ?? [];
  return new Map(views.map(({ name, select: { start, end } }) => [name, sql.slice(start, end)]));
}

test('both forms of the shipped query have the same views, none of them a plain one', () => {
  const { whole, typed, plain } = findForms(endpoint(SHIPPED, studio));
  expect([...plain]).toEqual(['edge_logs', 'postgres_logs']);
  const [wholeViews, typedViews] = [readViews(whole.sql), readViews(typed.sql)];
  expect([...typedViews.keys()]).toEqual([...wholeViews.keys()]);
  expect([...wholeViews.keys()].filter((name) => name.endsWith('_plain'))).toEqual([]);
  for (const [name, text] of typedViews) {
    if (plain.has(name)) expect(text).not.toContain('UNION');
    else expect(text).toBe(wholeViews.get(name));
  }
});

test('each view of a table reads one project of the table with its name, in whichever database it is', () => {
  const { whole, typed } = findForms(endpoint(SHIPPED, studio));
  for (const [name, text] of [...readViews(whole.sql), ...readViews(typed.sql)]) {
    if (/WHERE false/.test(text)) continue;
    for (const arm of text.split('UNION ALL')) {
      expect(/\bFROM (\S+)/.exec(arm)?.[1]).toBe(name);
      expect(arm).toMatch(/\bWHERE project = @project\n/);
    }
  }
});

test('the two have other hashes, so that neither has the check of the other', () => {
  const { whole, typed } = findForms(endpoint(SHIPPED, studio));
  expect(typed.hash).not.toBe(whole.hash);
});

test.each([
  ["in the engine's own SQL", undefined],
  ['without a view of the name before the suffix', studio],
])('a view that ends in _plain stays what it is %s', (_what, dialect) => {
  const sql =
    dialect === undefined
      ? 'WITH a AS (SELECT 1), a_plain AS (SELECT 2) SELECT 3'
      : 'WITH a_plain AS (SELECT 2) SELECT 3';
  const own = endpoint(sql, dialect);
  expect(findForms(own)).toEqual({ whole: own, typed: own, plain: new Set() });
});
