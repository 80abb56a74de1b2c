import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as e from '../../trial/oracle/bigquery/expression.ts';
import * as q from '../../trial/oracle/bigquery/query.ts';
import * as time from '../../trial/oracle/bigquery/time.ts';
import { type Json, number, type Tables, text, unnest } from '../../trial/oracle/bigquery/value.ts';
import { runs, SEED } from '../support/property.ts';
import { hostileTables } from './generate/event.ts';
import { jsonValue } from './generate/json-value.ts';
import { query } from './generate/query.ts';

const event = (i: number, metadata: Json | undefined) => ({
  id: `e${i}`,
  timestamp: i,
  event_message: `message ${i}`,
  metadata,
});

const TABLES: Tables = {
  edge_logs: [
    event(0, { request: [{ method: 'GET' }, { method: 'POST' }] }),
    event(1, { response: { status_code: '404' } }),
    event(2, undefined),
    event(3, { request: { method: 'GET' }, response: { status_code: 200 }, 'request.method': 'DOTTED' }),
  ],
};

const metadata = e.path('dynamic', 'metadata', ['metadata']);
const records = ['request', 'response'].reduce(
  (from, name) => q.unnested(from, e.path('dynamic', `m.${name}`, ['m', name]), name, 'cross join'),
  q.unnested(q.table('edge_logs', undefined), metadata, 'm', 'cross join'),
);
const method = e.path('dynamic', 'request.method', ['request', 'method']);
const status = e.path('dynamic', 'response.status_code', ['response', 'status_code']);
const item = (expression: e.Expression, name: string | undefined = undefined): q.Item => ({
  expression,
  name,
  alias: name !== undefined,
});
const rows = (of: q.Query) => of.answer(TABLES).classes.flat();

test('an event stays without its record, and has a row for each of several', () => {
  const all = q.select({ items: [item(e.path('string', 'id', ['id'])), item(method)], from: records });
  expect(rows(all)).toEqual([
    ['e0', 'GET'],
    ['e0', 'POST'],
    ['e1', null],
    ['e2', null],
    ['e3', 'GET'],
  ]);
});

test('a comparison with a number reads numbers and texts that are numbers, one with a text reads both as text', () => {
  const where = (condition: e.Expression) =>
    rows(q.select({ items: [item(e.path('string', 'id', ['id']))], from: records, where: condition })).flat();
  expect(where(e.comparison('>=', status, e.literal(200, '200')))).toEqual(['e1', 'e3']);
  expect(where(e.comparison('=', status, e.literal('200', "'200'")))).toEqual(['e3']);
  expect(where(e.not(e.comparison('=', method, e.literal('GET', "'GET'"))))).toEqual(['e0']);
});

test('nulls come first ascending and last descending, or as the query says', () => {
  const sorted = (descending: boolean, nulls?: 'first' | 'last') =>
    rows(
      q.select({
        items: [item(method, 'method')],
        from: records,
        order: [{ sql: '1', by: method, descending, nulls }],
      }),
    ).flat();
  expect(sorted(false)).toEqual([null, null, 'GET', 'GET', 'POST']);
  expect(sorted(true)).toEqual(['POST', 'GET', 'GET', null, null]);
  expect(sorted(false, 'last')).toEqual(['GET', 'GET', 'POST', null, null]);
  expect(sorted(true, 'first')).toEqual([null, null, 'POST', 'GET', 'GET']);
});

test('aggregates without GROUP BY answer one row, also over no rows; columns without a name are f0_, f1_', () => {
  const none = q.select({
    items: [item(e.countRows('count(*)')), item(e.aggregate('float', 'sum(1)', e.literal(1, '1'), e.sum))],
    from: q.table('auth_logs', undefined),
    group: [],
  });
  expect(none.answer(TABLES)).toMatchObject({
    columns: [{ name: 'f0_' }, { name: 'f1_' }],
    classes: [[[0, null]]],
  });
});

test('three values: null is neither true nor false', () => {
  const value = (expression: e.Expression) => expression.value(e.oneRow({}));
  const [yes, no, none] = [true, false, null].map((one) => e.literal(one, String(one))) as [
    e.Expression,
    e.Expression,
    e.Expression,
  ]; // three of three
  expect(value(e.connective('and', [none, no], ''))).toBe(false);
  expect(value(e.connective('and', [none, yes], ''))).toBe(null);
  expect(value(e.connective('or', [none, yes], ''))).toBe(true);
  expect(value(e.isIn(e.literal(2, '2'), [e.literal(1, '1'), none], true))).toBe(null);
  expect(value(e.isIn(e.literal(1, '1'), [e.literal(1, '1'), none], false))).toBe(true);
});

test('values of a path', () => {
  expect([7, '7', '2.5', 'abc', '', true, null, {}, []].map(number)).toEqual([
    7,
    7,
    2.5,
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([7n, true, null, {}, []].map(text)).toEqual(['7', 'true', null, null, null]);
  expect(number('9007199254740993')).toBe(9007199254740993n);
  expect([[], [1, 2], null, undefined, { a: 1 }].map(unnest)).toEqual([
    [null],
    [1, 2],
    [null],
    [null],
    [{ a: 1 }],
  ]);
  expect(jsonValue('{"a":{"x.y":[1,{"z":true}]}}', "$.a['x.y'][1].z")).toBe('true');
});

test('units of time: weeks begin on Sunday, differences are whole units', () => {
  const instant = (iso: string) => time.parseInstant(iso) ?? 0;
  const friday = instant('2026-11-20T07:45:30.123456Z');
  const truncated = (['week', 'month', 'quarter', 'minute'] as const).map((unit) =>
    time.datetimeText(time.truncate(friday, unit)),
  );
  expect(truncated).toEqual([
    '2026-11-15T00:00:00',
    '2026-11-01T00:00:00',
    '2026-10-01T00:00:00',
    '2026-11-20T07:45:00',
  ]);
  expect(time.difference(instant('2026-11-20T01:00:00'), instant('2026-11-20T00:00:01'), 'hour')).toBe(0);
  expect(time.extract(friday, 'dayofweek')).toBe(6);
  expect(time.datetimeText(friday)).toBe('2026-11-20T07:45:30.123456');
});

test('every random query can be computed', () => {
  const tables = hostileTables(SEED, 30);
  fc.assert(
    fc.property(query, (asked) => {
      const { columns, classes } = asked.answer(tables);
      for (const row of classes.flat()) expect(row.length).toBe(columns.length);
    }),
    runs(200),
  );
});
