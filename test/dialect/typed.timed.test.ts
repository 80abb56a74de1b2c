import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs, SEED } from '../support/property.ts';
import { expectAnswer, inOrder, toExpected } from './compare.ts';
import { EDGE } from './corpus/edge.ts';
import { EDGE_CHART } from './corpus/edge-chart.ts';
import { POSTGRES } from './corpus/postgres.ts';
import { NOW } from './corpus/rows.ts';
import { hostileTables } from './generate/event.ts';
import { query } from './generate/query.ts';
import { sampleTables } from './sample.ts';
import { openStudio } from './studio.ts';

const now = Date.parse(NOW);
const studio = await openStudio(now);
afterAll(studio.close);

const logs = sampleTables(studio.sources, now * 1000);
const DATASETS = [
  { project: logs.project, tables: logs.tables },
  { project: 'hostile', tables: hostileTables(SEED, 30) },
];

beforeAll(async () => {
  for (const { project, tables } of DATASETS) await studio.add(project, tables);
});

test('a generated query over typed columns answers what an interpreter computes, or nothing', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom(...DATASETS), async (asked, { project, tables }) => {
      const rows = await studio.askTyped(asked.sql, project).catch((error: unknown) => {
        if (/must have at most|too large/.test(String(error))) return undefined; // a bound of the sandbox
        throw error;
      });
      if (rows === undefined) return;
      expectAnswer(rows, toExpected(asked.answer(tables)), asked.sql);
      answered++;
    }),
    { ...runs(1_000), endOnFailure: true },
  );
  expect(answered).toBeGreaterThan(runs(50).numRuns);
}, 600_000);

test('most queries of log pages and charts are answered from typed columns', async () => {
  const corpus = [...EDGE, ...EDGE_CHART, ...POSTGRES];
  let answered = 0;
  for (const { sql, expected, by = [], limit } of corpus) {
    const rows = await studio.askTyped(sql, logs.project);
    if (rows === undefined) continue;
    expectAnswer(rows, inOrder(expected(logs.tables), by, limit), sql);
    answered++;
  }
  expect(answered).toBeGreaterThan(corpus.length / 2);
}, 120_000);

const FROM = `from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response`;

test('an event with a value beside its typed columns leaves the answer to the whole SELECT', async () => {
  const sql = `select id, response.status_code ${FROM} where response.status_code >= 500 order by timestamp desc limit 100`;
  expect(await studio.askTyped(sql, 'hostile')).toBeUndefined();
  const { rows, error } = await studio.ask(sql, 'hostile');
  expect(error).toBeUndefined();
  expect(rows.length).toBeGreaterThan(0);
});

test("other projects' events are not seen: neither a missing value nor a condition that would fail on one", async () => {
  await studio.add('other', {
    edge_logs: [{ id: 'canary', timestamp: now * 1000 - 1, event_message: '', metadata: {} }],
  });
  const fails = "div(1, if(id = 'canary', 0, 1)) = 1";
  const rows = await studio.askTyped(
    `select count(*) as n ${FROM} where ${fails} and response.status_code > 0`,
    logs.project,
  );
  expect(rows).toEqual([{ n: logs.tables['edge_logs']?.length }]);
  expect((await studio.ask(`select id from edge_logs where ${fails}`, 'other')).error?.code).toBe(
    'query_failed',
  );
});

test.each(['edge_logs_plain', 'postgres_logs_plain'])(
  '%s is not a table that callers can read',
  async (name) => {
    const { rows, error } = await studio.ask(`select id from ${name}`, logs.project);
    expect(rows).toEqual([]);
    expect(error?.code).toBe('invalid_parameter');
  },
);

test('a text that looks like a parameter or like a constant instant stays the same text', async () => {
  const text = "@sql_at_0 toDateTime64('2026-01-01 00:00:00.000000', 6, 'UTC')".replaceAll("'", '"');
  const sql = `select count(*) as n, max('${text}') as a, max('@sql_at_0') as b from edge_logs where timestamp > '2020-01-01'`;
  const row = { n: logs.tables['edge_logs']?.length, a: text, b: '@sql_at_0' };
  expect((await studio.ask(sql, logs.project)).rows).toEqual([row]);
});

test.each([
  'select distinct id from edge_logs',
  'select id from edge_logs order by timestamp desc limit 10 offset 5',
  'select id, count(*) over () as n from edge_logs limit 10',
  `select response.status_code, count(*) as n ${FROM} group by 1 having count(*) > 1`,
  'select id, metadata from edge_logs',
  `select response.other ${FROM}`,
  'select id from edge_logs where id in (select id from auth_logs)',
])('%s has no form over typed columns', async (sql) => {
  expect(await studio.askTyped(sql, logs.project)).toBeUndefined();
  expect((await studio.ask(sql, logs.project)).error).toBeUndefined();
});
