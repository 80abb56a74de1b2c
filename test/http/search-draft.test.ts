import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { SearchDraftView } from '../../src/management/workbench-view.ts';
import { EDGE, expectError, get, post, read } from '../support/http.ts';
import { runs, weighted } from '../support/property.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

// `GET /api/search/endpoint`: the files that it returns pass the checks, and their query returns what the search returns.
const nowMs = Date.UTC(2026, 10, 20, 12);
const FROM = '2026-11-20T11:00:00Z';
const UNTIL = '2026-11-20T12:00:00Z';
const FUNCTIONS = 'deno-relay-logs';
const OUTPUT = 'deno-subhosting-events';
const AUTH = 'gotrue.logs.prod';
const service = await ownService({ now: nowMs });
const { url, core } = service;

const TIMES = [1, 2.5, '3', 'none', '05', 40, null, true, -7, 1200];
const PATHS = ['/rest/v1/a', '/rest/v1/b', '/auth/c', "/it's", '/50%_off\\', null];
const MESSAGES = ['Timeout after 5 s', 'connection refused by host', 'ΣΊΣΥΦΟΣ timeout', '50%_off\\', 'ok'];
const SIZES = [5, 5.0, '5.0', '05', 1e21, -3, '99999999999999999999.5', { deep: 1 }, [1], '', null, false];
const pick = <T>(items: readonly T[], i: number, by: number): T =>
  items[(i * by + (i >> 3)) % items.length] as T;

// Something else in SQL, or in the query of a draft.
const WORDS = ['null', 'true', 'NaN', 'inf', 'not', 'distinct', 'range_from', 'range_until'];

const SOURCES = [EDGE, FUNCTIONS, OUTPUT, AUTH, 'logs'];
for (const [nth, source] of SOURCES.entries())
  await storeEvents(
    core,
    source,
    Array.from({ length: 90 }, (_, i) => ({
      id: `${source}-${i}`,
      timestamp: new Date(nowMs - 3_600_000 + i * 39_500 + nth * 1_111).toISOString(),
      project: i % 4 === 0 ? 'borealis' : 'aurora',
      event_message: pick(MESSAGES, i, 3),
      ...(source === 'logs' && { level: pick(['warn', 'ERROR', 'odd'], i, 1), host: `h${i % 3}` }),
      metadata: {
        project_ref: i % 4 === 0 ? 'borealis' : 'aurora',
        request: { path: pick(PATHS, i, 5), method: pick(['GET', 'POST'], i, 1), url: `https://x/${i % 7}` },
        path: pick(PATHS, i, 7),
        response: { status_code: pick([200, 404, 500, 503, 'x'], i, 3) },
        status: pick([200, 429, 500], i, 1),
        execution_time_ms: pick(TIMES, i, 3),
        function_id: `f${i % 30}`,
        level: pick(['info', 'Warning', 'error', 'PANIC', 'odd', null], i, 5),
        size: pick(SIZES, i, 5),
        'dotted.key': { "it's": i % 5 },
        secret: 'never-read',
        ...Object.fromEntries(WORDS.map((word) => [word, i % 3])),
      },
    })),
    nowMs,
  );

type Parameters = Readonly<Record<string, string>>;
const HISTOGRAM = { part: 'histogram', buckets: '4' };
const pathOf = (path: string, parameters: Parameters) =>
  `${path}?${new URLSearchParams({ from: FROM, until: UNTIL, ...parameters })}`;
// Neither begins at a multiple of its time bucket, which has no whole seconds.
const UNEVEN = { from: '2026-11-20T11:03:07.123457Z', until: '2026-11-20T11:58:01Z', buckets: '7' };

const draft = (parameters: Parameters, key?: string) =>
  read<SearchDraftView>(url, pathOf('/api/search/endpoint', parameters), key);

const workbench = async (path: string, body: object) =>
  (await post<Record<string, unknown>>(url, `/api/workbench/${path}`, body)).body;

type Row = Readonly<Record<string, unknown>>;

/** The rows of a search under the names of a draft, with the rest as the text by which a draft names it. */
const toRows = (rows: readonly Row[], by: string, name: string): Row[] =>
  rows.map(({ [by]: series, other, ...row }) => ({ ...row, [name]: other === true ? '(other)' : series }));

const byKey = (a: Row, b: Row) => (keyOf(a) < keyOf(b) ? -1 : 1);
const keyOf = ({ value: _, count: __, ...row }: Row) => JSON.stringify(Object.entries(row).toSorted());

/** Checks a draft, runs it, and compares its rows with the search's own. */
async function compare(parameters: Parameters): Promise<SearchDraftView> {
  const files = await draft(parameters);
  const { definition, sql, values } = files;
  const shown = `${definition}\n${sql}`;
  expect((await workbench('check', { definition, sql }))['errors'], shown).toEqual([]);
  const run = await workbench('run', { definition, sql, values });
  const rows = run['result'] as readonly Row[];
  const own: readonly Row[] = (await read(url, pathOf('/api/search', parameters))).result;
  const columns = (run['columns'] as { name: string }[]).map(({ name }) => name);
  const series = columns.find((name) => !['timestamp', 'count', 'value'].includes(name));
  const expected =
    parameters['part'] === 'histogram'
      ? toRows(own, parameters['by'] ?? 'level', series ?? '')
      : parameters['part'] === 'values'
        ? own.map(({ value, count }) => ({ [series ?? '']: value, count }))
        : own;
  const isOneBucket = parameters['buckets'] === '1';
  const timed = expected.map(({ timestamp, ...row }) =>
    isOneBucket || timestamp === undefined ? row : { timestamp, ...row },
  );
  const isOrdered = parameters['part'] !== 'histogram';
  const near = timed.map((row) =>
    'value' in row ? { ...row, value: expect.closeTo(Number(row['value']), 6) } : row,
  );
  expect(isOrdered ? rows : rows.toSorted(byKey), shown).toEqual(isOrdered ? timed : near.toSorted(byKey));
  return files;
}

test('a field may be called as a word of SQL, or of the draft', async () => {
  for (const word of WORDS) {
    await compare({ part: 'values', source: EDGE, field: word });
    await compare({ ...HISTOGRAM, source: EDGE, by: word, measure: `sum(${word})`, top: '2' });
  }
});

const TERMS = [
  ...['timeout', '"refused by"', 'conn*host', 'σίσυφος', '"50%_off\\\\"', 'event_message:ok', 'host:h1'],
  ...['level:>=warn', 'level:info', 'size:*', 'size:5', 'size:>=5', 'size:<"5"', 'size:"05"', 'size:>="5"'],
  ...['execution_time_ms:>2', 'execution_time_ms:<=1e3', 'status:<=429', 'function_id:f7', 'project:aurora'],
  ...['response.status_code:5*', 'response.status_code:>=404', 'response.status_code:<99999999999999999999'],
  ...['is_auth:true', 'is_rest:false', 'request.path:/rest/*', 'request.path:/auth/c', `source:${EDGE}`],
  ...['"dotted.key"."it\'s":<3', 'timestamp:<2026-11-20T11:40:00Z', `id:${EDGE}-7`, 'x:y'],
  ...['"dotted.key"."it\'s":3', 'timestamp:>=2026-11-20T11:30:00Z', 'nothing.at.all:x', 'level:error'],
  ...['is_auth:false', 'request.path:/rest/v1/a', 'response.status_code:>=400'],
];
const TERM = fc.constantFrom(...TERMS);
const SEARCH = fc.oneof(
  fc.constant(''),
  TERM,
  TERM.map((term) => `-${term}`),
  fc.tuple(TERM, TERM).map((two) => two.join(' ')),
  fc.tuple(TERM, TERM, TERM).map(([a, b, c]) => `(${a} or -${b}) ${c}`),
  fc.tuple(TERM, TERM, fc.constantFrom(' ', ' or ')).map(([a, b, or]) => `not (${a}${or}${b})`),
);
const FIELD = fc.constantFrom('source', 'size', 'request.path', 'project', 'function_id', 'host', 'status');
const FUNCTION = fc.constantFrom('avg', 'sum', 'p50', 'p95', 'p99', 'distinct');
const MEASURED = fc.constantFrom('execution_time_ms', 'size', 'response.status_code', 'nothing');
const MEASURE = fc.oneof(
  fc.constant('count'),
  fc.tuple(FUNCTION, MEASURED).map(([name, field]) => `${name}(${field})`),
);
const ROWS = [
  { part: 'rows', limit: '20' },
  { part: 'rows', limit: '5', project: 'aurora' },
  { limit: '30' },
];
const RANGED = fc.record({
  ...{ by: FIELD, measure: MEASURE, top: fc.constantFrom({}, { top: '1' }, { top: '3' }) },
  range: fc.constantFrom({}, UNEVEN, { buckets: '1' }, { project: 'aurora' }),
});
const PART = weighted<Parameters[]>(
  [1, fc.constantFrom(...ROWS)],
  [1, fc.constantFrom({}, UNEVEN).map((range) => ({ ...HISTOGRAM, ...range }))],
  [1, FIELD.map((field) => ({ part: 'values', field }))],
  [1, MEASURE.map((measure) => ({ ...HISTOGRAM, by: 'level', measure }))],
  [3, RANGED.map(({ top, range, ...others }) => ({ ...HISTOGRAM, ...range, ...others, ...top }))],
);

test('a saved endpoint returns what the screen showed, for any search and measure', async () => {
  const few = fc.uniqueArray(fc.constantFrom(...SOURCES), { minLength: 1, maxLength: 2 });
  const some = weighted([3, few], [1, fc.constant(SOURCES)]);
  await fc.assert(
    fc.asyncProperty(SEARCH, PART, some, async (q, part, sources) => {
      await compare({ ...part, q, source: sources.join() });
    }),
    runs(200),
  );
});

describe('keeps what a search keeps', () => {
  const ask = (parameters: Parameters, key = PRIVATE_KEY) =>
    get(url, pathOf('/api/search/endpoint', parameters), { 'x-api-key': key });

  test('a key that pins a project gets events of no other', async () => {
    const key = await service.newKey({ pins: { project: 'aurora' } });
    for (const parameters of [
      { part: 'rows', limit: '100' },
      HISTOGRAM,
      { part: 'values', field: 'project' },
    ]) {
      const { test: text, values, definition } = await draft(parameters, key);
      expect(values['project']).toBe('aurora');
      expect(text).toContain('project: aurora');
      expect(`${text}${definition}`).not.toContain('borealis');
    }
    expectError(await ask({ project: 'borealis' }, key), 'forbidden');
  });

  test('a limited key gets only its sources', async () => {
    const key = await service.newKey({ sources: [EDGE] });
    const { sql, test: text } = await draft({ part: 'rows' }, key);
    expect(sql.match(/FROM \w+_logs/g)).toEqual(['FROM edge_logs']);
    expect(Object.keys(parse(text ?? '').events)).toEqual([EDGE]);
    expectError(await ask({ source: AUTH }, key), 'forbidden');
    expectError(await ask({ part: 'patterns' }), 'invalid_parameter');
    expectError(await ask({}, await service.newKey({ endpoints: ['logs.all'] })), 'forbidden');
    expectError(await ask({}, await service.newKey({ scopes: ['ingest'] })), 'forbidden');
    expectError(await ask({}, ''), 'unauthorized');
  });
});
