import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { storeEvents } from '../support/service.ts';
import { type AnswerRow, openStudio, parseExact } from './studio.ts';

// Queries in Studio's style. A file of the corpus has a query, `----` with the columns that order its answer, and the answer:
// each was computed from the events of events.txt by a function written for its query, without an engine.
const FILES = ['edge-and-charts', 'postgres', 'function', 'auth-and-services', 'construct'] as const;

const read = (name: string) => readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), 'utf8');

interface CorpusQuery {
  readonly sql: string;
  readonly by: readonly string[];
  readonly rows: AnswerRow[];
}

function readCorpus(name: string): CorpusQuery[] {
  return read(name)
    .split('\n\n')
    .map((text) => {
      const [, sql = '', by = '', rows = ''] = /^(.*?)\n----(.*?)\n(.*)$/s.exec(`${text}\n`) ?? [];
      const lines = rows.split('\n').filter((line) => line !== '');
      return {
        sql,
        by: by.split(' ').filter(Boolean),
        rows: lines.map((line) => parseExact(line) as AnswerRow),
      };
    });
}

const now = Date.parse('2026-11-20T07:00:00.000Z');
const studio = await openStudio(now);
afterAll(studio.close);

// Events of every shape that sources send: fields missing, null, of other types, in lists, with dots in their names.
const PROJECT = 'aurora';
// Events whose typed columns hold all that queries ask for.
const PLAIN = 'plain';
const PLAIN_EVENTS = 5;

const events = read('events').trimEnd().split('\n');
for (const [source, lines] of Map.groupBy(events, (line) => line.slice(0, line.indexOf(' ')))) {
  const texts = lines.map((line) => line.slice(source.length + 1));
  await storeEvents(studio.core, source, texts, now);
}

/** A row as text, its columns in order, its numbers without what differs by the order of a sum. */
function textOf(row: AnswerRow): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'number' ? Number(value.toPrecision(14)) : value;
  });
}

/** The same rows, in the order of these columns: rows that are equal in them may come in any order. */
function expectRows(actual: readonly AnswerRow[], expected: readonly AnswerRow[], by: readonly string[]) {
  expect(actual.map(textOf).toSorted()).toEqual(expected.map(textOf).toSorted());
  const keys = (rows: readonly AnswerRow[]) =>
    rows.map((row) => by.map((name) => textOf({ key: row[name] })));
  expect(keys(actual)).toEqual(keys(expected));
}

describe.for(FILES)('the corpus of %s', (name) => {
  test.for(readCorpus(name).map((query) => [query.sql.replaceAll(/\s+/g, ' ').slice(0, 90), query] as const))(
    'is answered as computed: %s',
    async ([, { sql, by, rows }]) => {
      const answer = await studio.ask(sql, PROJECT);
      expect(answer.error).toBeUndefined();
      expectRows(answer.rows, rows, by);
      // The fields of a record are names, so that a record in it may be named without it.
      const bare = sql.replaceAll('unnest(m.', 'unnest(');
      if (bare !== sql) expectRows((await studio.ask(bare, PROJECT)).rows, rows, by);
    },
  );
});

// As BigQuery's documentation has them, and what ZetaSQL's own code does.
test('regexp_extract has the match, or its one group', async () => {
  const calls: readonly (readonly [call: string, value: string | null])[] = [
    ["'foo@example.com', r'^[a-zA-Z0-9_.+-]+'", 'foo'],
    ["'foo@example.com', r'^[a-z]+@[a-z]+\\.([a-z.]+$)'", 'com'],
    ["'ab', '(.)b'", 'a'],
    ["'xyztb', '(.)+b'", 't'],
    ["'ab', '(z)?b'", null],
    ["'a=', '(?:a|b)=([0-9]*)'", ''],
    ["'a=1', '(?P<key>[a-z])=[(]?1'", 'a'],
    ["'ab', 'c'", null],
    ["'', ''", ''],
    ["'Hello Helloo and Hellooo', 'H?ello+', 1, 2", 'Helloo'],
    ["'Hello Helloo and Hellooo', 'H?ello+', 3", 'Helloo'],
    ["'Hello Helloo and Hellooo', 'H?ello+', 3, 2", 'Hellooo'],
    ["'Hello Helloo and Hellooo', 'H?ello+', 20, 2", null],
    ["'Hello Helloo and Hellooo', '(l)l', 1, 4", null],
    ["'éé1é2', 'é([0-9])', 3", '2'],
    ["'éé', '', 3", null],
    ["'éé', '^é$', 2", 'é'],
    ["'a\\nb', 'a.b'", null],
    ['cast(null as string), r".*"', null],
    ['id, null', null],
    ["id, 'x', null", null],
    ["id, '(x)', 2, null", null],
  ];
  const list = calls.map(([call], i) => `regexp_${i % 2 ? 'extract' : 'substr'}(${call}) as c${i}`);
  const { rows, error } = await studio.ask(`select ${list} from edge_logs limit 1`, PLAIN);
  expect(error).toBeUndefined();
  expect(Object.values(rows[0] ?? {})).toEqual(calls.map(([, value]) => value));
});

const FROM = 'from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response';

describe('typed columns', () => {
  test('answer most queries of log pages and charts, as the whole events do', async () => {
    const corpus = [...readCorpus('edge-and-charts'), ...readCorpus('postgres')];
    let answered = 0;
    for (const { sql, by } of corpus) {
      const rows = await studio.askTyped(sql, PLAIN);
      if (rows === undefined) continue;
      expectRows(rows, await studio.askWhole(sql, PLAIN), by);
      answered++;
    }
    expect(answered).toBeGreaterThan(corpus.length / 2);
  });

  test('leave the answer to the whole events if one has a value beside them', async () => {
    const sql = `select id, response.status_code ${FROM} where response.status_code >= 100 order by timestamp desc limit 100`;
    expect(await studio.askTyped(sql, PROJECT)).toBeUndefined();
    expect((await studio.ask(sql, PROJECT)).rows.length).toBeGreaterThan(0);
    expect(await studio.askTyped(sql, PLAIN)).toHaveLength(PLAIN_EVENTS);
  });

  test('are asked by the next request if the engine failed while it checked their form', async () => {
    const sql = `select id ${FROM} where response.status_code >= 100 limit 3`;
    const { engine } = studio.core;
    const { query } = engine;
    engine.query = (text, ...rest) =>
      String(text).includes('p_untyped')
        ? Promise.reject(new TailraceError('engine_unavailable', 'lost'))
        : query.call(engine, text, ...rest);
    await expect(studio.askTyped(sql, PLAIN)).rejects.toThrow('lost');
    engine.query = query;
    expect(await studio.askTyped(sql, PLAIN)).toHaveLength(3);
  });

  test("ignore other projects' events: neither a missing value nor a condition that would fail on one", async () => {
    const canary = `{"id":"canary","timestamp":${now * 1000 - 1},"project":"other","metadata":{}}`;
    await storeEvents(studio.core, 'cloudflare.logs.prod', [canary], now);
    const fails = "div(1, if(id = 'canary', 0, 1)) = 1";
    const sql = `select count(*) as n ${FROM} where ${fails} and response.status_code > 0`;
    expect(await studio.askTyped(sql, PLAIN)).toEqual([{ n: PLAIN_EVENTS }]);
    const failing = await studio.ask(`select id from edge_logs where ${fails}`, 'other');
    expect(failing.error?.code).toBe('query_failed');
  });

  test.each([
    'select distinct id from edge_logs',
    'select id from edge_logs order by timestamp desc limit 10 offset 5',
    `select response.status_code, count(*) as n ${FROM} group by 1 having count(*) > 1`,
    `select response.other ${FROM}`,
    'select id from edge_logs where id in (select id from auth_logs)',
  ])('are not asked for %s', async (sql) => {
    expect(await studio.askTyped(sql, PLAIN)).toBeUndefined();
    expect((await studio.ask(sql, PLAIN)).error).toBeUndefined();
  });
});

test('a text that looks like a parameter or like a constant instant stays the same text', async () => {
  const text = `@sql_at_0 toDateTime64("2026-01-01 00:00:00.000000", 6, "UTC")`;
  const sql = `select count(*) as n, max('${text}') as a, max('@sql_at_0') as b from edge_logs where timestamp > '2020-01-01'`;
  expect((await studio.ask(sql, PLAIN)).rows).toEqual([{ n: PLAIN_EVENTS, a: text, b: '@sql_at_0' }]);
});

test.each([
  ['drop table edge_logs', /drop/],
  ['select id from edge_logs; drop table edge_logs', /has ";" where/],
  ['select id from edge_logs_plain', /edge_logs_plain/],
  ['select name from system.tables', /system\.tables/],
  ["select * from url('http://127.0.0.1/')", /function url where a table/],
  ["select getSetting('max_threads')", /getsetting/],
  ['select @@project_id', /@@/],
  ['select id from edge_logs settings max_threads = 1', /settings/],
  [`select '${'x'.repeat(20_000)}' as x`, /at most 16384 bytes/],
])('%.60s is rejected, and nothing is executed', async (sql, names) => {
  const before = studio.executed.length;
  const { status, error, rows } = await studio.ask(sql, PROJECT);
  expect(rows).toEqual([]);
  const message = expect.stringMatching(new RegExp(names.source, 'i'));
  expect({ status, ...error }).toMatchObject({ status: 400, code: 'invalid_parameter', message });
  expect(studio.executed.slice(before)).toEqual([]);
});
