import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { DialectName } from '../../../src/definitions/endpoint.ts';
import { FUNCTIONS } from '../../../src/dialect/bigquery/call.ts';
import { translateBigQuery } from '../../../src/dialect/bigquery/translate.ts';
import { NOW, translate, VIEWS } from './views.ts';

const UNTYPED = new Map([...VIEWS].map(([name, view]) => [name, { ...view, untyped: 'untyped' }]));

const CHAIN = `from edge_logs as t
  cross join unnest(metadata) as m cross join unnest(m.request) as request left join unnest(m.response) as response`;

test('names the columns of the answer, with their types', () => {
  const { columns } =
    translate(`select id, t.timestamp, cast(t.timestamp as datetime) as at, count(*) over () as n,
    request.method, metadata, status_code > 1, cast(status_code as string), 1.5 as f ${CHAIN}`);
  expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    ...['id string', 'timestamp timestamp', 'at datetime', 'n int64', 'method json', 'metadata record'],
    ...['f0_ bool', 'f1_ string', 'f float64'],
  ]);
});

const HOUR = { from: '2026-11-22 11:00:00.000000' };

test.each([
  ['timestamp > timestamp_sub(current_timestamp(), interval 1 hour)', HOUR],
  ['timestamp >= current_timestamp() - interval 60 minute and id is not null', HOUR],
  ["'2026-11-22T11:00:00Z' < t.timestamp and timestamp > '2026-11-01'", HOUR],
  ["cast(timestamp as datetime) > '2026-11-22 11:00:00'", HOUR],
  ["timestamp > '2026-11-22 11:00:00' or id = 'x'", {}],
  ["not timestamp > '2026-11-22 11:00:00'", {}],
  ["status_code > 3 and id = 'x'", { id: 'x' }],
  [
    "timestamp between '2026-11-22 11:00:00' and '2026-11-22 11:30:00'",
    { ...HOUR, until: '2026-11-22 11:30:00.000000' },
  ],
  ["timestamp_trunc(timestamp, day) = '2026-11-22'", {}],
])('takes the bounds of %s', (condition, bounds) => {
  expect(translate(`select id ${CHAIN} where ${condition}`).bounds).toEqual(bounds);
});

test('takes the widest bounds of several reads', () => {
  const read = (from: string) => `select id from edge_logs where timestamp > '2026-11-22 ${from}'`;
  expect(translate(`${read('11:30:00')} union all ${read('11:00:00')}`).bounds).toEqual(HOUR);
  expect(translate(`${read('11:30:00')} union all select id from postgres_logs`).bounds).toEqual({});
});

test('gives NOT in front of brackets the precedence of BigQuery', () => {
  const [a, b] = ['not (status_code) = 1', 'not status_code = 1'].map(
    (where) => translate(`select id ${CHAIN} where ${where}`).sql,
  );
  expect(a).toBe(b);
});

test('the page lists every function', async () => {
  const page = await readFile('docs/supabase.md', 'utf8');
  const names = ['count', ...FUNCTIONS.keys()];
  expect(names.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`\`${name}(`))).toEqual([]);
});

test('reads the column of untyped values in the place of the metadata, unless another path is used', () => {
  const ask = (sql: string) => translateBigQuery(sql, { views: UNTYPED, now: NOW, dialect: 'bigquery' }).sql;
  const FROM = 'from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response';
  expect(ask(`select id ${FROM} where response.status_code = 500`)).not.toMatch(/\bmetadata\b/);
  expect(ask(`select id, response.status_code ${FROM} group by id, status_code`)).not.toMatch(/\bmetadata\b/);
  expect(ask(`select id, response.other ${FROM}`)).not.toMatch(/\buntyped\b/);
  expect(ask(`select id ${FROM}, unnest(m.list) as list where status_code = 500`)).not.toMatch(/\buntyped\b/);
});

test('changes no text of a SELECT in FROM', () => {
  expect(translate("select x from (select 'a\\x01b' as x from edge_logs) as t").sql).toContain("'a\u0001b'");
});

test('takes no name of a member for a column', () => {
  const { sql } = translate('select m.`t0s.project` as p from edge_logs cross join unnest(metadata) as m');
  expect(sql).not.toContain('t0s.project AS');
});

test('leaves out the columns of EXCEPT', () => {
  const { columns } = translate('select * except (metadata, event_message) from edge_logs');
  expect(columns.map(({ name }) => name)).toEqual(['id', 'timestamp']);
});

test('takes place 0 of a text for the first', () => {
  expect(translate("select substr('abc', 0) as s, substring('abc', 00, 2) as t").sql).toContain(
    "substringUTF8('abc', 1) AS c0, substringUTF8('abc', 1, 2) AS c1",
  );
});

test('reads three quotes as BigQuery does, or two as one', () => {
  const first = (sql: string, dialect: DialectName) =>
    /SELECT ('.*') AS c0/s.exec(translateBigQuery(sql, { views: VIEWS, now: NOW, dialect }).sql)?.[1];
  expect(first("select '''COMMIT''' as a", 'bigquery')).toBe("'COMMIT'");
  expect(first("select '''COMMIT''' as a", 'studio')).toBe(String.raw`'\'COMMIT\''`);
  expect(first("select 'it''s' as a", 'studio')).toBe(String.raw`'it\'s'`);
  expect(first("select r'''it's''' as a", 'studio')).toBe(String.raw`'it\'s'`);
  expect(() => first("select 'it''s' as a", 'bigquery')).toThrow('has the text "s" where the end belongs');
});
