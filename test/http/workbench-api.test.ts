import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createEndpointTests } from '../../src/cli/testing/endpoint-tests.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { ENDLESS_SQL } from '../support/endpoints.ts';
import { hostileName } from '../support/hostile-name.ts';
import { expectError, get, request } from '../support/http.ts';
import { runs } from '../support/property.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const endpoints = { path: join(folder.path, 'endpoints'), remove: folder.remove };
await addEndpoint(endpoints.path, {
  name: 'test.stored',
  id: 'a0000000-0000-4000-8000-000000000009',
  sql: 'SELECT count() AS n FROM edge_logs WHERE project = @project',
  caching: 900,
});
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const service = await startTestService({
  env: { TAILRACE_ENDPOINTS_DIR: endpoints.path, TAILRACE_EDIT_ENDPOINTS: '1' },
  now: NOW_MS,
  runTests: (name, signal) => createEndpointTests(service.config)(name, signal),
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url, core } = service;

await storeEvents(
  core,
  'cloudflare.logs.prod',
  Array.from({ length: 30 }, (_, i) => ({
    id: `e${String(i).padStart(2, '0')}`,
    timestamp: new Date(NOW_MS - i * 60_000).toISOString(),
    project: i % 3 === 0 ? 'other' : 'aurora',
    event_message: `it's "line" ${i}`,
    metadata: { request: { path: '/rest/v1' }, n: i },
  })),
  NOW_MS,
);

const YAML = `name: test.draft
description: A draft.
max_rows: 5
caching: disabled
parameters:
  project: { type: string, required: true, description: Project. }
`;
const SQL = 'SELECT id, timestamp, metadata FROM edge_logs WHERE project = @project ORDER BY id\n';

interface Fault {
  readonly parameter: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

async function post(path: string, body: object, key = PRIVATE_KEY) {
  const answer = await request(url, `/api/workbench/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const faults = (answer.body.error?.errors ?? []) as unknown as readonly Fault[];
  return { ...answer, json: answer.body as unknown as Record<string, unknown>, faults };
}
const run = (sql: string, values: object = { project: 'aurora' }, definition = YAML) =>
  post('run', { definition, sql, values });
const PLAIN = YAML.slice(0, YAML.indexOf('parameters:'));

type Rows = readonly Record<string, unknown>[];
const rowsOf = ({ json }: { json: Record<string, unknown> }) => json['result'] as Rows;

describe('a draft that is run', () => {
  test('answers rows, the columns of the query, and what was read', async () => {
    const { status, json } = await run(SQL);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json['columns']).toEqual([
      { name: 'id', type: 'string' },
      { name: 'timestamp', type: 'string' },
      { name: 'metadata', type: 'string' },
    ]);
    expect(rowsOf({ json }).map(({ id }) => id)).toEqual(['e01', 'e02', 'e04', 'e05', 'e07']);
    expect(json['truncated']).toBe(true);
    expect(json['parameters']).toMatchObject([{ name: 'project', type: 'string', control: 'text' }]);
    const counted = await run(
      'SELECT count(), sum(length(event_message)) AS n FROM edge_logs WHERE project = @project',
    );
    expect(counted.json).toMatchObject({ rows_read: 30, truncated: false, engine_ms: expect.any(Number) });
    expect(counted.json['bytes_read']).toBeGreaterThan(300);
  });

  test.each([4, 5])('with %i rows is whole', async (limit) => {
    const { json } = await run(`${SQL} LIMIT ${limit}`);
    expect(rowsOf({ json })).toHaveLength(limit);
    expect(json['truncated']).toBe(false);
  });

  test('may have totals and columns with any name', async () => {
    const definition = `${PLAIN}columns:
  rows: { type: integer, description: Events. }
  rows_read: { type: integer, description: A number. }
`;
    const sql =
      'SELECT count() AS rows, toInt64(7) AS rows_read FROM edge_logs GROUP BY id WITH TOTALS LIMIT 2';
    const { json } = await run(sql, {}, definition);
    expect(json['result']).toEqual([
      { rows: 1, rows_read: 7 },
      { rows: 1, rows_read: 7 },
    ]);
    expect(json['rows_read']).toBeGreaterThanOrEqual(30);
    expect((await run('SELECT 1 AS a, 2 AS b WHERE 0', {}, PLAIN)).json).toMatchObject({
      result: [],
      truncated: false,
    });
  });

  test('without a row is an empty list', async () => {
    expect((await run(SQL, { project: 'nobody' })).json).toMatchObject({ result: [], truncated: false });
  });

  test('answers declared columns as its endpoint would, JSON included', async () => {
    const definition = `${YAML}columns:
  id: { type: string, description: Id. }
  metadata: { type: json, description: All. }
`;
    const sql = SQL.replace('timestamp, ', '');
    const { json } = await run(sql, { project: 'aurora' }, definition);
    expect(rowsOf({ json })[1]).toEqual({ id: 'e02', metadata: { request: { path: '/rest/v1' }, n: 2 } });
    expect(json).toMatchObject({ truncated: true, columns: [{ type: 'string' }, { type: 'json' }] });
    expect(rowsOf({ json })).toHaveLength(5);
    expect((await run(sql, { project: 'nobody' }, definition)).json['result']).toEqual([]);
  });

  test('answers types that no endpoint returns, as JSON', async () => {
    const { json } = await run(
      "SELECT [number, 2] AS list, map('a', ['x\n,']) AS m FROM numbers(9)",
      {},
      PLAIN,
    );
    expect(rowsOf({ json })).toHaveLength(5);
    expect(rowsOf({ json })[4]).toEqual({ list: [4, 2], m: { a: ['x\n,'] } });
    expect(json['columns']).toEqual([
      { name: 'list', type: 'json' },
      { name: 'm', type: 'json' },
    ]);
  });

  test.each(["it's", "\\'; DROP TABLE edge_logs", '@project', '日本\n"quoted"', "' OR 1 = 1 --"])(
    'takes %j as a value',
    async (project) => {
      const { json } = await run(
        'SELECT @project AS p, count() AS n FROM edge_logs WHERE project = @project',
        { project },
      );
      expect(json['result']).toEqual([{ p: project, n: 0 }]);
    },
  );

  test('parses values by their types, and names each that is wrong', async () => {
    const definition = `${PLAIN}parameters:
  since: { type: timestamp, required: true, description: First instant. }
  n: { type: integer, default: 3, description: A number. }
`;
    const sql = 'SELECT @n + 1 AS n, count() AS c FROM edge_logs WHERE timestamp >= @since';
    const since = new Date(NOW_MS - 90_000).toISOString();
    expect((await run(sql, { since }, definition)).json['result']).toEqual([{ n: 4, c: 2 }]);
    const wrong = await run(sql, { since: 'yesterday', n: 'x' }, definition);
    expectError(wrong, 'invalid_parameter');
    expect(wrong.faults.map(({ parameter }) => parameter)).toEqual(['since', 'n']);
  });

  test('that fails on its data says why, in the words of the engine', async () => {
    const failed = await run('SELECT toInt8(event_message) AS n FROM edge_logs WHERE project = @project');
    expectError(failed, 'query_failed');
    expect(failed.body.error.message).toMatch(/Cannot parse string/);
    expect(failed.faults).toMatchObject([{ parameter: 'sql' }]);
  });

  test('is not cached', async () => {
    const count = 'SELECT count() AS n FROM edge_logs WHERE project = @project';
    const definition = YAML.replace('caching: disabled', 'caching: 900');
    expect((await run(count, { project: 'late' }, definition)).json['result']).toEqual([{ n: 0 }]);
    const event = { id: 'l', timestamp: new Date(NOW_MS).toISOString(), project: 'late', event_message: '' };
    await storeEvents(core, 'cloudflare.logs.prod', [event], NOW_MS);
    expect((await run(count, { project: 'late' }, definition)).json['result']).toEqual([{ n: 1 }]);
  });

  test('ends in the engine when its caller hangs up', async () => {
    const hangUp = new AbortController();
    const call = { definition: YAML, sql: ENDLESS_SQL, values: { project: 'aurora' } };
    const answer = fetch(`${url}/api/workbench/run`, {
      method: 'POST',
      headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(call),
      signal: hangUp.signal,
    });
    const isRunning = async () => {
      const rows = await core.engine.inspect(
        "SELECT query FROM system.processes WHERE query LIKE '%cityHash64%'",
      );
      return rows.some(
        ({ query }) => !String(query).includes('system.processes') && !String(query).includes('EXPLAIN'),
      );
    };
    await expect.poll(isRunning).toBe(true);
    hangUp.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(isRunning).toBe(false);
  });

  test('runs every shipped endpoint', async () => {
    const folders = await Promise.all(
      ['endpoints', 'studio/endpoints'].map(async (dir) => (await readdir(dir)).map((one) => join(dir, one))),
    );
    for (const name of folders.flat()) {
      const read = (file: string) => readFile(join(name, file), 'utf8');
      const values = { project: 'aurora', interval: 'daily' };
      const answer = await run(await read('query.sql'), values, await read('endpoint.yaml'));
      expect(answer.status, `${name}: ${answer.text.slice(0, 500)}`).toBe(200);
    }
  });

  test('has a plan of the statement as it is sent, without paths', async () => {
    const { json } = await post('plan', { definition: YAML, sql: SQL, values: { project: 'aurora' } });
    expect(json['plan']).toMatch(/ReadFromMergeTree/);
    expect(json['plan']).toMatch(/PrimaryKey/);
    expect(json['plan']).not.toContain(service.config.dataDir);
  });
});

interface Files {
  readonly name: string;
  readonly definition: string;
  readonly sql: string;
  readonly version: string;
  readonly may_edit: boolean;
}

describe('SQL that reads more than the tables of sources, or does more than read:', () => {
  test.each([
    'INSERT INTO edge_logs (id) VALUES (1)',
    'INSERT INTO FUNCTION file("x") SELECT 1',
    'DROP TABLE edge_logs',
    'ALTER TABLE edge_logs DELETE WHERE 1',
    'KILL QUERY WHERE 1',
    'SET max_threads = 1',
    'SHOW TABLES',
    'DESCRIBE TABLE edge_logs',
    'EXPLAIN SELECT 1',
    'SELECT 1 AS n SETTINGS max_execution_time = 0',
    'SELECT * FROM (SELECT 1 AS n SETTINGS readonly = 0)',
    'SELECT 1 AS n; SELECT 2 AS n',
    'SELECT 1 AS n; DROP TABLE edge_logs',
    'SELECT 1 AS n /* ; */ ; DROP TABLE edge_logs --',
    'SELECT 1 AS n) UNION ALL (SELECT name FROM system.tables',
    "SELECT 1 AS n INTO OUTFILE '/tmp/tailrace-workbench'",
    'SELECT 1 AS n FORMAT CSV',
    'SELECT * FROM system.processes',
    'SELECT * FROM/**/system./**/query_log',
    'SELECT name FROM `system`.`users`',
    'SELECT * FROM information_schema.tables',
    "SELECT file('/etc/passwd') AS n",
    "SELECT arrayMap(file, ['/etc/passwd']) AS n",
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT (SELECT count() FROM url('http://127.0.0.1:1/', 'LineAsString')) AS n",
    "SELECT 1 IN (SELECT x FROM s3('http://127.0.0.1:1/', 'CSV', 'x UInt8')) AS n",
    "SELECT * FROM remote('127.0.0.1', 'system', 'one')",
    "SELECT * FROM executable('cat', 'CSV', 'x String')",
    "SELECT * FROM merge('system', '.*')",
    "SELECT * FROM mysql('h', 'd', 't', 'u', 'p')",
    'SELECT * FROM view(SELECT 1 AS n)',
    'SELECT * FROM default.edge_logs',
    'SELECT 1 IN other_table AS n',
    "SELECT hasColumnInTable('system', 'tables', 'name') AS n",
    "SELECT dictGet('other', 'name', id) AS n FROM edge_logs",
    "SELECT dictHas('other', 1) AS n",
    "SELECT arrayMap(dictGetOrNull, ['other'], ['name'], [1]) AS n",
    "SELECT * APPLY(x -> joinGet('other', 'name', x)) FROM (SELECT 1 AS n)",
    'WITH x AS (SELECT * FROM other_table) SELECT * FROM x',
  ])('%s is refused as a draft', async (sql) => {
    for (const path of ['run', 'plan', 'check']) {
      const body = { definition: PLAIN, sql, ...(path !== 'check' && { values: {} }) };
      const answer = await post(path, body);
      if (path !== 'check') expectError(answer, 'invalid_definition');
      const faults = path === 'check' ? (answer.json['errors'] as readonly Fault[]) : answer.faults;
      expect(
        faults.map(({ parameter }) => parameter),
        sql,
      ).toEqual(['sql']);
      expect(faults[0]?.message).toMatch(/\S/);
    }
    const [row] = await core.engine.inspect('SELECT count() AS n FROM edge_logs');
    expect(Number(row?.['n'])).toBeGreaterThanOrEqual(30);
  });
});

const nest = (levels: number, [open, close]: readonly [string, string], inner: string) =>
  open.repeat(levels) + inner + close.repeat(levels);

test.each([
  ['SELECTs in IN', nest(24, ['SELECT 1 AS n WHERE 1 IN (', ')'], 'SELECT 1'), '5 nested SELECTs in IN'],
  ['SELECTs that exist', nest(24, ['SELECT 1 AS n WHERE EXISTS (', ')'], 'SELECT 1'), '5 nested SELECTs'],
  ['views in IN', views(12, (one) => `SELECT id FROM edge_logs WHERE id IN ${one}`), '5 nested SELECTs'],
  ['brackets', `SELECT ${nest(3_000, ['(', ')'], '1')} AS n`, '64 levels of brackets'],
  ['braces', `SELECT ${nest(100, ["{'a': ", '}'], '1')} AS n`, '64 levels of brackets'],
  ['BETWEEN', `SELECT 1 ${'BETWEEN 0 AND 2 '.repeat(20)} AS n`, '2 nested BETWEEN'],
  ['operators', `SELECT ${'1 + '.repeat(400)}1 AS n`, '500 levels'],
  ['lambdas', `SELECT ${nest(24, ['arrayMap(x -> ', ', [1, 2])'], 'x')} AS n`, '8 levels of lambdas'],
  ['values', `SELECT [${'1,'.repeat(20_000)}1] AS n`, '10000 words and signs'],
  ['views that double', views(9, (one) => `SELECT 1 AS id FROM ${one} AS a, ${one} AS b`), '256 reads'],
])('a draft of too many %s is refused before the engine has to resolve it', async (_, sql, bound) => {
  expect(sql.length).toBeLessThan(64 * 1024);
  const answer = await post('run', { definition: PLAIN, sql, values: {} });
  expectError(answer, 'invalid_definition');
  expect(answer.faults[0]).toMatchObject({ parameter: 'sql' });
  expect(answer.faults[0]?.message).toContain(`must have at most ${bound}`);
});

/** `WITH c0 AS …, c1 AS …` of views that each read the one before. */
function views(count: number, select: (before: string) => string): string {
  const all = Array.from(
    { length: count },
    (_, i) => `c${i} AS (${i === 0 ? 'SELECT id FROM edge_logs' : select(`c${i - 1}`)})`,
  );
  return `WITH ${all.join(', ')} SELECT * FROM c${count - 1}`;
}

describe('a fault', () => {
  async function check(sql: string, definition = YAML) {
    const { status, json } = await post('check', { definition, sql });
    expect(status).toBe(200);
    return json['errors'] as readonly Fault[];
  }
  const project = ' WHERE project = @project';

  test.each<[string, string, Partial<Fault>]>([
    ['syntax', `SELECT id,\n  , path FROM edge_logs${project}`, { line: 2, column: 5 }],
    [
      'syntax behind a parameter',
      `SELECT @project AS p, id FROM edge_logs WHERE ==`,
      { line: 1, column: 47 },
    ],
    [
      'syntax behind other letters',
      `SELECT '日本' AS p, @project AS q FROM edge_logs WHERE (`,
      { line: 1, column: 54 },
    ],
    ['an open bracket', `SELECT @project AS p,\n  (id FROM edge_logs`, { line: 2, column: 3 }],
    ['a missing end', `SELECT id FROM edge_logs WHERE project = @project AND`, { line: 1, column: 54 }],
    ['an open text', `SELECT @project,\n 'abc`, { line: 2, column: 2 }],
    ['a column', `SELECT id,\n  nothere FROM edge_logs${project}`, { line: 2, column: 3 }],
    [
      'a column of a table',
      `SELECT e.id, e.nothere AS n FROM edge_logs AS e${project}`,
      { line: 1, column: 14 },
    ],
    ['a function', `SELECT id,\n\tnofunc(id) AS n FROM edge_logs${project}`, { line: 2, column: 2 }],
    ['a table', `SELECT id\nFROM nothere${project}`, {}],
    ['types', `SELECT id, toDate(id, [1]) AS d FROM edge_logs${project}`, { line: 1, column: 12 }],
    ['several statements', `SELECT @project AS p; SELECT 2`, { line: 1, column: 21 }],
    ['a semicolon', `SELECT @project AS p\n;\n`, { line: 2, column: 1 }],
    ['a character that ends the text for the engine', `SELECT @project AS p,\n 1\0`, { line: 2, column: 3 }],
    ['a parameter that is not declared', `SELECT @project AS p,\n @other AS q`, { line: 2, column: 2 }],
  ])('of %s is reported at its place', async (_, sql, place) => {
    expect(await check(sql)).toEqual([{ parameter: 'sql', message: expect.stringMatching(/\S/), ...place }]);
  });

  test.each<[string, string, Partial<Fault>]>([
    ['syntax', `${PLAIN}parameters: [`, { line: 5, column: 14 }],
    ['a field that is not known', `${YAML}max_row: 3\n`, { line: 7, column: 1 }],
    ['a wrong value', YAML.replace('max_rows: 5', 'max_rows: many'), { line: 3, column: 1 }],
    ['a wrong type', YAML.replace('type: string', 'type: text'), { line: 6, column: 14 }],
    ['a list', '- 1\n', { line: 1, column: 1 }],
    ['a search', YAML.replace('type: string', 'search: "a b:(", type: string'), { line: 6, column: 14 }],
  ])('of the definition, %s, is reported at its place', async (_, definition, place) => {
    const [fault] = await check(SQL, definition);
    expect(fault).toEqual({ parameter: 'definition', message: expect.stringMatching(/\S/), ...place });
  });

  test.each([
    ['SELECT 1 AS n SETTINGS max_threads = 1', /^must not have SETTINGS: [^()]*$/],
    ['SELECT cuont() AS n', /does not exist\. Maybe you meant/],
  ])('%s is reported in plain words', async (sql, words) => {
    const [fault] = await check(sql, PLAIN);
    expect(fault?.message).toMatch(words);
  });

  test('of both texts is reported at once', async () => {
    const faults = await check('SELECT (', `${PLAIN}max_row: 3\n`);
    expect(new Set(faults.map(({ parameter }) => parameter))).toEqual(new Set(['definition', 'sql']));
  });

  test('of columns names what the query returns', async () => {
    const definition = `${YAML}columns: { id: { type: integer, description: x } }\n`;
    const faults = await check(`SELECT id FROM edge_logs${project}`, definition);
    expect(faults).toEqual([
      { parameter: 'sql', message: expect.stringContaining('column "id" is of type String') },
    ]);
  });

  test('too long a text is one', async () => {
    const [fault, ...others] = await check(`SELECT @project AS p -- ${'x'.repeat(70_000)}`);
    expect([fault?.parameter, fault?.message, others]).toEqual(['sql', expect.stringContaining('65536'), []]);
    expectError(await post('check', { definition: 'x'.repeat(2_000_000), sql: '' }), 'body_too_large');
  });

  test.each([
    {},
    { definition: YAML },
    { definition: YAML, sql: 3 },
    { definition: YAML, sql: SQL, other: 1 },
  ])('of the body is an invalid request: %j', async (body) =>
    expectError(await post('check', body), 'invalid_request'),
  );

  test('is none: a check describes parameters and columns', async () => {
    const { json } = await post('check', {
      definition: YAML,
      sql: `SELECT count() AS n, 1.5 AS x, true AS b, now() AS t, @project AS p`,
    });
    expect(json).toMatchObject({ errors: [], parameters: [{ name: 'project' }] });
    expect((json['columns'] as { type: string }[]).map(({ type }) => type)).toEqual([
      'integer',
      'number',
      'boolean',
      'string',
      'string',
    ]);
  });
});

describe('the workbench is refused to', () => {
  const everything = ['query', 'ingest', 'manage'] as const;
  test.each([
    ['a key with a pin', { scopes: everything, pins: { project: 'aurora' } }],
    ['a key that is limited to endpoints', { scopes: everything, endpoints: ['test.stored'] }],
    ['a key that is limited to sources', { scopes: everything, sources: ['postgres.logs'] }],
    ['a key without query', { scopes: ['manage'] }],
    ['a key without manage', { scopes: ['query'] }],
  ] as const)('%s', async (_, grant) => {
    const { key } = await service.service.keyring.create({ name: 'x', pins: {}, ...grant });
    await expectRefused(key);
  });

  test('a signed token', async () => {
    const { body } = await request(url, '/api/tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    await expectRefused((body as unknown as { token: string }).token);
  });

  async function expectRefused(key: string): Promise<void> {
    expect(key).toMatch(/\S/);
    const headers = { 'x-api-key': key };
    expectError(await get(url, '/api/workbench', headers), 'forbidden');
    expectError(await get(url, '/api/workbench/endpoints/test.stored', headers), 'forbidden');
    expectError(await get(url, '/api/workbench/history/endpoints/test.stored', headers), 'forbidden');
    expectError(await get(url, '/api/workbench/history/endpoints/test.stored/x', headers), 'forbidden');
    for (const path of ['run', 'plan', 'check', 'save', 'tests']) {
      const extra = path === 'save' ? { name: 'test.draft', version: null } : {};
      const answer = await post(path, { definition: YAML, sql: SQL, ...extra }, key);
      expectError(answer, 'forbidden');
      expect(answer.body.error.message).toMatch(/cannot use the workbench|lacks the scope/);
    }
  }
});

test('the editor gets functions, tables with their columns, and types of parameters', async () => {
  const { json } = { json: (await get(url, '/api/workbench')).body as unknown as Record<string, unknown> };
  expect(json).toMatchObject({ may_edit: true, refusal: null });
  expect(json['functions']).toContainEqual({ name: 'toStartOfInterval' });
  expect(json['functions']).not.toContainEqual({ name: 'file' });
  const tables = json['tables'] as { name: string; columns: { name: string; description: string }[] }[];
  const edge = tables.find(({ name }) => name === 'edge_logs');
  expect(edge?.columns.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['id', 'timestamp', 'path', 'status_code']),
  );
  expect(edge?.columns.every(({ description }) => description !== '')).toBe(true);
  expect(json['parameter_types']).toContain('timestamp');
});

describe('an endpoint that is saved', () => {
  const COLUMNS = 'columns:\n  n: { type: integer, description: Events. }\n';
  const COUNT = 'SELECT count() AS n FROM edge_logs WHERE project = @project\n';
  const folderOf = (name: string) => join(endpoints.path, name);
  const texts = (name: string) => ({
    definition: YAML.replace('test.draft', name) + COLUMNS,
    sql: COUNT,
  });
  const save = (name: string, changes: object = {}) =>
    post('save', { name, ...texts(name), version: null, ...changes });
  const read = async (name: string) =>
    (await get(url, `/api/workbench/endpoints/${name}`)).body as unknown as Files;
  const readFolder = async (name: string) => [
    await readFile(join(folderOf(name), 'endpoint.yaml'), 'utf8').catch(() => undefined),
    await readFile(join(folderOf(name), 'query.sql'), 'utf8').catch(() => undefined),
  ];
  const names = async () => (await readdir(endpoints.path)).toSorted();

  test('is served at once, with a UUID of its own, and stands in the audit trail', async () => {
    const { status, json, text } = await save('save.new');
    expect(status, text).toBe(200);
    expect(json).toEqual({ name: 'save.new', version: expect.stringMatching(/^\w{32}-\w{32}$/), tests: [] });
    const files = await read('save.new');
    expect(files).toMatchObject({ sql: COUNT, version: json['version'], may_edit: true });
    expect(files.definition).toMatch(/^id: [0-9a-f-]{36}\nname: save\.new\n/);
    expect((await service.call('save.new', { project: 'aurora' })).body).toEqual({ result: [{ n: 20 }] });
    const trail = await service.service.keyring.log({ limit: 1 });
    expect(trail).toMatchObject([
      { action: 'saved', actor: 'private', detail: `save.new ${json['version']}` },
    ]);
    expect(await readdir(folderOf('save.new'))).toEqual(['endpoint.yaml', 'query.sql']);
  });

  test('may bring a file of tests, which runs; one that exists has its own', async () => {
    const test = `now: 2026-11-20T12:00:00Z
events:
  cloudflare.logs.prod:
    - { timestamp: 2026-11-20T11:59:00Z, project: aurora }
cases:
  - { name: counts, parameters: { project: aurora }, rows: [{ n: 1 }] }
`;
    const { status, json, text } = await save('save.with-test', { test });
    expect(status, text).toBe(200);
    expect(json['tests']).toEqual([{ name: 'counts', passed: true, message: '' }]);
    expect(await readFile(join(folderOf('save.with-test'), 'tests', 'search.yaml'), 'utf8')).toBe(test);
    const { version } = await read('save.with-test');
    const again = await save('save.with-test', { version, test });
    expectError(again, 'invalid_request');
    expectError(await save('save.long-test', { test: '#'.repeat(65 * 1024) }), 'invalid_definition');
    await mkdir(folderOf('save.empty-folder'));
    expectError(await save('save.empty-folder', { test }), 'conflict');
    expect(await readdir(folderOf('save.empty-folder'))).toEqual([]);
    expect(await names()).not.toContain('save.long-test');
    await rm(folderOf('save.empty-folder'), { recursive: true });
  });

  test('keeps its UUID, and the text is kept as it was written', async () => {
    await save('save.again');
    const { definition, version } = await read('save.again');
    const sql = `-- Counts.\n${COUNT}`;
    const changed = `${definition}# The end.\n`;
    const { status, json } = await save('save.again', { definition: changed, sql, version });
    expect(status, JSON.stringify(json)).toBe(200);
    expect(await readFolder('save.again')).toEqual([changed, sql]);
    const without = changed.replace(/^id: .*\n/, '');
    const again = await save('save.again', { definition: without, sql, version: json['version'] });
    expect(again.status).toBe(200);
    expect(await readFolder('save.again')).toEqual([changed, sql]);
    const other = changed.replace(/^id: .*\n/, 'id: a0000000-0000-4000-8000-00000000000f\n');
    const refused = await save('save.again', { definition: other, sql, version: again.json['version'] });
    expectError(refused, 'invalid_definition');
    expect(refused.faults).toMatchObject([{ parameter: 'definition', line: 1 }]);
    expect(refused.body.error.message).toContain('must stay');
  });

  test('runs its tests, and says which failed', async () => {
    await save('save.tested');
    await mkdir(join(folderOf('save.tested'), 'tests'));
    await writeFile(
      join(folderOf('save.tested'), 'tests', 'one.yaml'),
      `now: 2026-11-20T12:00:00Z
cases:
  - { name: right, parameters: { project: p }, rows: [{ n: 0 }] }
  - { name: wrong, parameters: { project: p }, rows: [{ n: 1 }] }
`,
    );
    const { definition, version } = await read('save.tested');
    const sql = `${COUNT}-- Tested.\n`;
    const { status, json } = await save('save.tested', { definition, sql, version });
    expect(status).toBe(200);
    expect(json['tests']).toEqual([
      { name: 'right', passed: true, message: '' },
      { name: 'wrong', passed: false, message: expect.stringContaining('expected') },
    ]);
    expect((await read('save.tested')).sql).toBe(sql);
    await writeFile(join(folderOf('save.tested'), 'tests', 'one.yaml'), 'cases: []');
    const faulty = await save('save.tested', { definition, sql, version: json['version'] });
    expect(faulty.status).toBe(200);
    expect(faulty.json['tests']).toMatchObject([
      {
        passed: false,
        message: expect.stringMatching(/^save\.tested\/tests\/one\.yaml:1: "now" is missing/),
      },
    ]);
  });

  test('by two callers: the later one gets what has changed, and nothing is lost', async () => {
    await save('save.both');
    const { definition, version } = await read('save.both');
    const first = await save('save.both', { definition, sql: `${COUNT}-- First.\n`, version });
    expect(first.status).toBe(200);
    const second = await save('save.both', { definition, sql: `${COUNT}-- Second.\n`, version });
    expectError(second, 'conflict');
    expect(second.body.error.message).toContain('query.sql has changed');
    expect((await read('save.both')).sql).toContain('First');
    await writeFile(join(folderOf('save.both'), 'endpoint.yaml'), `${definition}# By hand.\n`);
    const third = await save('save.both', { definition, sql: COUNT, version: first.json['version'] });
    expect(third.body.error.message).toContain('endpoint.yaml has changed');
    expect(await names()).toContain('save.both');
  });

  test('at the same moment by several callers is saved by one', async () => {
    await save('save.race');
    const { definition, version } = await read('save.race');
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => save('save.race', { definition, sql: `${COUNT}-- ${n}\n`, version })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test('under a name that is taken, or that was removed meanwhile, is a conflict', async () => {
    expectError(await save('test.stored'), 'conflict');
    await save('save.gone');
    const { definition, version } = await read('save.gone');
    await rm(folderOf('save.gone'), { recursive: true });
    expectError(await save('save.gone', { definition, version }), 'conflict');
    expectError(await get(url, '/api/workbench/endpoints/save.gone'), 'endpoint_not_found');
    expect((await save('save.gone', { definition })).status).toBe(200);
  });

  const withoutName = texts('x').definition.replace(/name: .*\n/, '');

  test.each([
    ...['../x', '..', '.', 'a/../../x', '/tmp/x', 'a\0b', 'A', '', 'x'.repeat(101), '.hidden', 'a..b'],
    // In YAML the name ends at the comment, or is another one.
    ...['zzz #/../../logs.all', 'zzz #', 'a\nname: b', '"a"', 'a: b', '&a b', 'TEST.STORED'],
  ])('under the name %j is refused, and nothing is written', async (name) => {
    const before = await names();
    for (const definition of [texts(name).definition, withoutName]) {
      const answer = await save(name, { definition });
      expect(answer.status, answer.text).toBe(400);
    }
    expect(await names()).toEqual(before);
  });

  test('under a name that YAML reads as no text keeps that name', async () => {
    for (const name of ['null', '1e5', 'true', '0x1f', '2026']) {
      const { status, json, text } = await save(name, { definition: withoutName });
      expect([status, json['name']], text).toEqual([200, name]);
      expect((await read(name)).definition).toContain(`name: "${name}"\n`);
      expect((await service.call(name, { project: 'aurora' })).status).toBe(200);
      await rm(folderOf(name), { recursive: true });
    }
    await core.reload();
  });

  test('under a name in other letters than the definition has is refused', async () => {
    const definition = texts('save.letters').definition.replace('save.letters', 'Save.letters');
    expectError(await save('save.letters', { definition }), 'invalid_definition');
  });

  test('of a definition without a name writes nothing outside of the folder, whatever the name', async () => {
    const list = async () =>
      (await readdir(folder.path, { recursive: true, withFileTypes: true })).map(
        (entry) => `${entry.parentPath}/${entry.name}`,
      );
    const before = await list();
    const isName = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$/;
    const hostile = hostileName.filter((name) => !isName.test(name));
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        const { status } = await save(name, { definition: withoutName });
        expect(status).toBe(400);
      }),
      runs(200), // test/lib/below.unit.test.ts tries 10,000 without the route
    );
    expect(await list()).toEqual(before);
  });

  test('into a folder or a file that is a link is refused', async () => {
    await save('save.linked');
    const { definition, version } = await read('save.linked');
    const outside = join(endpoints.path, '..', 'outside');
    await rename(folderOf('save.linked'), outside);
    await symlink(outside, folderOf('save.linked'));
    const sql = `${COUNT}-- Changed.\n`;
    expectError(await save('save.linked', { definition, sql, version }), 'forbidden');
    await rm(folderOf('save.linked'));
    await rename(outside, folderOf('save.linked'));
    const file = join(folderOf('save.linked'), 'query.sql');
    await rename(file, `${outside}.sql`);
    await symlink(`${outside}.sql`, file);
    expectError(await save('save.linked', { definition, sql, version }), 'forbidden');
    expect(await readFile(`${outside}.sql`, 'utf8')).toBe(COUNT);
    await rm(file);
    await rename(`${outside}.sql`, file);
  });

  test('in the place of a file, or of a link to nothing, is refused', async () => {
    await writeFile(folderOf('save.file'), '');
    expectError(await save('save.file'), 'forbidden');
    await symlink(folderOf('nothere'), folderOf('save.dangling'));
    expectError(await save('save.dangling'), 'forbidden');
    await Promise.all(['save.file', 'save.dangling'].map((name) => rm(folderOf(name))));
  });

  test('over bytes that are not UTF-8 is refused, which keeps them', async () => {
    await save('save.bytes');
    const { definition, version } = await read('save.bytes');
    const file = join(folderOf('save.bytes'), 'query.sql');
    const bytes = Buffer.from([...Buffer.from(`${COUNT}-- `), 0xff, 0xfe]);
    await writeFile(file, bytes);
    expectError(await get(url, '/api/workbench/endpoints/save.bytes'), 'conflict');
    expectError(await save('save.bytes', { definition, version }), 'conflict');
    expect(await readFile(file)).toEqual(bytes);
    await rm(folderOf('save.bytes'), { recursive: true });
  });

  test('may begin with a byte order mark', async () => {
    const { definition } = texts('save.mark');
    expect((await save('save.mark', { definition: `\uFEFF${definition}` })).status).toBe(200);
    expect((await read('save.mark')).definition).toMatch(/^\uFEFF?id: /);
  });

  test('with faults is refused with their places, and nothing is written', async () => {
    const before = await names();
    const refused = await save('save.faulty', {
      sql: 'SELECT count() AS n\nFROM edge_logs WHERE project = @projec',
    });
    expectError(refused, 'invalid_definition');
    expect(refused.faults).toMatchObject([
      { parameter: 'sql', line: 2, column: 32 },
      { parameter: 'definition' },
    ]);
    const [columns] = (await save('save.faulty', { definition: YAML.replace('test.draft', 'save.faulty') }))
      .faults;
    expect(columns?.message).toContain('"columns" is missing');
    const [name] = (await save('save.faulty', { definition: texts('save.other').definition })).faults;
    expect(name).toMatchObject({ parameter: 'definition', line: 1 });
    const { definition } = await read('test.stored');
    const uuid = /^id: (.*)$/m.exec(definition)?.[1];
    const taken = await save('save.faulty', {
      definition: `${texts('save.faulty').definition}id: ${uuid}\n`,
    });
    expect(taken.faults).toMatchObject([{ parameter: 'definition', line: 9, column: 1 }]);
    expect(taken.body.error.message).toContain('"id" is that of test.stored');
    const tool = await save('test-stored');
    expect(tool.body.error.message).toContain('for agents');
    expect(await names()).toEqual(before);
  });

  test('while another definition has faults is refused, which names them', async () => {
    await mkdir(folderOf('save.broken'));
    await writeFile(join(folderOf('save.broken'), 'endpoint.yaml'), 'name: [');
    const refused = await save('save.beside');
    expectError(refused, 'conflict');
    expect(refused.body.error.message).toContain('save.broken/endpoint.yaml:1');
    await rm(folderOf('save.broken'), { recursive: true });
    expect((await save('save.beside')).status).toBe(200);
  });

  test('is taken back if the definitions are refused together', async () => {
    await save('save.undone');
    const { definition, version } = await read('save.undone');
    const broken = join(folderOf('save.beside'), 'query.sql');
    const good = await readFile(broken, 'utf8');
    await writeFile(broken, 'SELECT nothere AS n, @project AS p FROM edge_logs');
    const before = await readFolder('save.undone');
    const refused = await save('save.undone', { definition, sql: `${COUNT}-- Changed.\n`, version });
    expectError(refused, 'invalid_definition');
    expect(refused.body.error.message).toContain('nothere');
    expect(await readFolder('save.undone')).toEqual(before);
    expectError(await save('save.undone-new'), 'invalid_definition');
    expect(await names()).not.toContain('save.undone-new');
    await writeFile(broken, good);
    expect((await service.call('save.undone', { project: 'aurora' })).status).toBe(200);
  });

  test('is half read by no reload', async () => {
    await save('save.half');
    const file = join(folderOf('save.half'), 'query.sql');
    let reloaded: Promise<void> | undefined;
    await core.edit(async () => {
      await writeFile(file, 'SELECT');
      reloaded = core.reload();
      reloaded.catch(() => {}); // reported below
      for (let i = 0; i < 50; i++) await core.engine.inspect('SELECT 1'); // it would have read the file by then
      await writeFile(file, COUNT);
    });
    await expect(reloaded).resolves.toBeUndefined();
  });
});

describe('saving', () => {
  test('is refused unless the setting allows it, and if the definitions are the shipped ones', async () => {
    const { config, findEditRefusal } = {
      config: service.config,
      findEditRefusal: (await import('../../src/workbench/workbench.ts')).findEditRefusal,
    };
    const folders = core.folders;
    expect(findEditRefusal({ config, folders: () => folders })).toBeUndefined();
    expect(findEditRefusal({ config: { ...config, editEndpoints: '0' }, folders: () => folders })).toContain(
      'TAILRACE_EDIT_ENDPOINTS=1',
    );
    const shipped = { ...folders, shipped: ['endpointsDir'] as const };
    expect(findEditRefusal({ config, folders: () => shipped })).toContain('ship with Tailrace');
  });
});
