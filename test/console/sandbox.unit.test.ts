import { expect, test } from 'vitest';
import { withColumnsOf, withSql } from '../../console/src/page/endpoint/sandbox.ts';
import type { EndpointView } from '../../src/management/view.ts';

const ENDPOINT: EndpointView = {
  id: '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11',
  name: 'a.b',
  description: '',
  max_rows: 5,
  caching_seconds: null,
  warming_seconds: null,
  query_sandboxing: true,
  live_tail: false,
  parameters: [],
  formats: [],
  columns: [{ name: 'n', type: 'integer', description: 'A count.', search: null }],
  charts: [],
  bucket: null,
  sources: [],
  sql: null,
};

test('only a sandboxed endpoint takes sql', () => {
  expect(withSql(ENDPOINT).parameters.map(({ name }) => name)).toEqual(['sql']);
  expect(withSql({ ...ENDPOINT, query_sandboxing: false }).parameters).toEqual([]);
});

test('the columns of a caller’s SELECT are those of its rows, with types by their values', () => {
  const rows = [
    { i: 1, big: 2n ** 60n, x: 1, b: true, s: 'a', j: [1], none: null },
    { i: 2, big: 5, x: 0.5, b: null, s: null, j: 'a', none: null },
  ];
  expect(withColumnsOf(ENDPOINT, rows).columns.map(({ name, type }) => [name, type])).toEqual([
    ['i', 'integer'],
    ['big', 'integer'],
    ['x', 'number'],
    ['b', 'boolean'],
    ['s', 'string'],
    ['j', 'json'],
    ['none', 'string'],
  ]);
});

test('the stored SELECT keeps its columns, and so does an answer without rows', () => {
  expect(withColumnsOf(ENDPOINT, [{ n: 1 }])).toBe(ENDPOINT);
  expect(withColumnsOf(ENDPOINT, [])).toBe(ENDPOINT);
  expect(withColumnsOf({ ...ENDPOINT, query_sandboxing: false }, [{ x: 1 }]).columns).toBe(ENDPOINT.columns);
});
