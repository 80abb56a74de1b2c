import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEndpointTests } from '../../src/cli/commands/test.ts';
import type { EndpointFiles } from '../../src/management/workbench-view.ts';
import { findWhyNotSaved } from '../../src/workbench/workbench.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { hostileName } from '../support/hostile-name.ts';
import { expectError, get, read, post as send } from '../support/http.ts';
import { runs } from '../support/property.ts';
import { ownFolder, ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

const folder = await ownFolder();
const endpointsDir = join(folder.path, 'endpoints');
const STORED_ID = 'a0000000-0000-4000-8000-000000000009';
await addEndpoint(endpointsDir, {
  name: 'test.stored',
  id: STORED_ID,
  sql: 'SELECT count() AS n FROM edge_logs WHERE project = @project',
  caching: 900,
});
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const service = await ownService({
  env: { TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_EDIT_ENDPOINTS: '1' },
  now: NOW_MS,
  runTests: (name, signal) => createEndpointTests(service.config)(name, signal),
});
const { url, core } = service;

const event = (i: number) => ({
  id: `e${String(i).padStart(2, '0')}`,
  timestamp: new Date(NOW_MS - i * 60_000).toISOString(),
  project: i % 3 === 0 ? 'other' : 'aurora',
  event_message: `it's "line" ${i}`,
  metadata: { request: { path: '/rest/v1' }, n: i },
});
const events = Array.from({ length: 30 }, (_, i) => event(i));
await storeEvents(core, 'cloudflare.logs.prod', events, NOW_MS);

const PLAIN = `name: test.draft
description: A draft.
max_rows: 5
caching: disabled
`;
const YAML = `${PLAIN}parameters:
  project: { type: string, required: true, description: Project. }
`;
const SQL = 'SELECT id, timestamp, metadata FROM edge_logs WHERE project = @project ORDER BY id\n';

type Json = Readonly<Record<string, unknown>>;
type Fault = Readonly<{ parameter: string; message: string; line?: number; column?: number }>;

async function post(path: string, body: object, key = PRIVATE_KEY) {
  const answer = await send<Json>(url, `/api/workbench/${path}`, body, { 'x-api-key': key });
  return { ...answer, json: answer.body, faults: (answer.body.error?.errors ?? []) as readonly Fault[] };
}
const run = (sql: string, values: object = { project: 'aurora' }, definition = YAML) =>
  post('run', { definition, sql, values });

test('a draft that is run returns rows, the columns of the query, and what was read', async () => {
  const { json } = await run(SQL);
  expect(json).toMatchObject({
    columns: ['id', 'timestamp', 'metadata'].map((name) => ({ name, type: 'string' })),
    result: ['e01', 'e02', 'e04', 'e05', 'e07'].map((id) => ({ id })),
    truncated: true,
    parameters: [{ name: 'project', type: 'string', control: 'text' }],
  });
  const count = 'SELECT count(), sum(length(event_message)) AS n FROM edge_logs WHERE project = @project';
  expect((await run(count)).json).toMatchObject({ rows_read: 30, truncated: false });
});

const nest = (levels: number, [open, close]: readonly [string, string], inner: string) =>
  open.repeat(levels) + inner + close.repeat(levels);
test.each([
  ['INSERT INTO edge_logs (id) VALUES (1)', ''],
  ['SELECT 1 AS n SETTINGS max_execution_time = 0', ''],
  ['SELECT 1 AS n) UNION ALL (SELECT name FROM system.tables', ''],
  ["SELECT 1 AS n INTO OUTFILE '/tmp/tailrace-workbench'", ''],
  ["SELECT arrayMap(file, ['/etc/passwd']) AS n", ''],
  ["SELECT (SELECT count() FROM url('http://127.0.0.1:1/', 'LineAsString')) AS n", ''],
  [nest(24, ['SELECT 1 AS n WHERE 1 IN (', ')'], 'SELECT 1'), 'Too deep subqueries'],
  [`SELECT ${nest(3_000, ['(', ')'], '1')} AS n`, 'Maximum parse depth'],
])('a draft that does more than read sources, or too much, is rejected: %.60s', async (sql, message) => {
  const answer = await run(sql, {}, PLAIN);
  expectError(answer, 'invalid_definition');
  const checked = (await post('check', { definition: PLAIN, sql })).json['errors'] as readonly Fault[];
  for (const faults of [answer.faults, checked])
    expect(faults).toEqual([
      expect.objectContaining({ parameter: 'sql', message: expect.stringContaining(message) }),
    ]);
});

test('the faults of a definition do not hide those of its query', async () => {
  const definition = `${YAML.replace('disabled', '60\ncache_warming: 90')}columns:\n  n: { type: string, description: N. }\n`;
  for (const [column, message] of [
    ['nothing', 'nothing'],
    ['1', 'column "n" is of type UInt8'],
  ] as const) {
    const { json } = await post('check', { definition, sql: `SELECT ${column} AS n FROM edge_logs` });
    expect(json['errors']).toEqual(
      ['"cache_warming" must be less', '@project is not used', message].map((text) =>
        expect.objectContaining({ message: expect.stringContaining(text) }),
      ),
    );
  }
});

test('a draft with an unused parameter runs, and is not saved', async () => {
  const answer = await run('SELECT count() AS n FROM edge_logs', { project: 'aurora' }, YAML);
  expect([answer.status, answer.json['result']]).toEqual([200, [{ n: expect.any(Number) }]]);
  const columns = 'columns:\n  n: { type: integer, description: N. }\n';
  const draft = { definition: YAML + columns, sql: 'SELECT count() AS n FROM edge_logs' };
  expectError(await post('save', { name: 'test.unused', ...draft, version: null }), 'invalid_definition');
});

const EVERY = ['query', 'ingest', 'manage'] as const;
test.each([
  ['a key with a pin', { scopes: EVERY, pins: { project: 'aurora' } }],
  ['a key that is limited to endpoints', { scopes: EVERY, endpoints: ['test.stored'] }],
  ['a key that is limited to sources', { scopes: EVERY, sources: ['postgres.logs'] }],
  ['a key without query', { scopes: ['manage'] }],
  ['a key without manage', { scopes: ['query'] }],
] as const)('%s cannot use the workbench, nor can a token', async (_, grant) => {
  const key = await service.newKey(grant);
  const { token } = (await send<{ token: string }>(url, '/api/tokens', {})).body;
  for (const secret of [key, token]) {
    for (const path of ['', '/endpoints/test.stored'])
      expectError(await get(url, `/api/workbench${path}`, { 'x-api-key': secret }), 'forbidden');
    for (const path of ['run', 'check', 'save', 'tests']) {
      const extra = path === 'save' ? { name: 'test.draft', version: null } : {};
      expectError(await post(path, { definition: YAML, sql: SQL, ...extra }, secret), 'forbidden');
    }
  }
});

const COUNT = 'SELECT count() AS n FROM edge_logs WHERE project = @project\n';
const folderOf = (name: string) => join(endpointsDir, name);
const definitionOf = (name: string) =>
  `${YAML.replace('test.draft', name)}columns:\n  n: { type: integer, description: Events. }\n`;
const save = (name: string, changes: object = {}) =>
  post('save', { name, definition: definitionOf(name), sql: COUNT, version: null, ...changes });
const filesOf = (name: string) => read<EndpointFiles>(url, `/api/workbench/endpoints/${name}`);
const textsIn = (name: string) =>
  Promise.all(['endpoint.yaml', 'query.sql'].map((file) => readFile(join(folderOf(name), file), 'utf8')));

describe('an endpoint that is saved', () => {
  test('is served at once, with a new UUID, and is in the audit trail', async () => {
    const { json } = await save('save.new');
    expect(json).toEqual({ name: 'save.new', version: expect.stringMatching(/^\w{32}-\w{32}$/), tests: [] });
    const files = await filesOf('save.new');
    expect(files).toMatchObject({ sql: COUNT, version: json['version'], may_edit: true });
    expect(files.definition).toMatch(/^id: [0-9a-f-]{36}\nname: save\.new\n/);
    expect((await service.call('save.new', { project: 'aurora' })).body).toEqual({ result: [{ n: 20 }] });
    const entry = { action: 'saved', actor: 'private', detail: `save.new ${json['version']}` };
    expect(await service.service.keyring.log({ limit: 1000 })).toContainEqual(expect.objectContaining(entry));
    expect(await readdir(folderOf('save.new'))).toEqual(['endpoint.yaml', 'query.sql']);
  });

  test('by several callers is saved by one, and the others learn what has changed', async () => {
    await save('save.race');
    const { definition, version } = await filesOf('save.race');
    const edit = (n: number) => save('save.race', { definition, sql: `${COUNT}-- ${n}\n`, version });
    const saves = await Promise.all([1, 2, 3, 4].map(edit));
    expect(saves.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const late = await save('save.race', { definition, sql: COUNT, version });
    expectError(late, 'conflict', 'query.sql has changed');
  });

  test('writes nothing outside of the folder, whatever the name', async () => {
    const list = async () => (await readdir(folder.path, { recursive: true })).toSorted();
    const before = await list();
    const withoutName = definitionOf('x').replace(/name: .*\n/, '');
    const isName = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$/;
    const hostile = fc.oneof(
      fc.constantFrom('../x', 'a/../../x', '/tmp/x', 'A', '', 'a..b', 'zzz #/../../logs.all', 'a\nname: b'),
      hostileName.filter((name) => !isName.test(name)),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        expect((await save(name, { definition: withoutName })).status).toBe(400);
      }),
      runs(200), // test/lib/file.unit.test.ts tries 10,000 without the route
    );
    expect(await list()).toEqual(before);
  });

  test('into a folder or a file that is a link is rejected', async () => {
    await save('save.linked');
    const { definition, version } = await filesOf('save.linked');
    const outside = join(folder.path, 'outside');
    const change = { definition, sql: `${COUNT}-- Changed.\n`, version };
    await rename(folderOf('save.linked'), outside);
    await symlink(outside, folderOf('save.linked'));
    expectError(await save('save.linked', change), 'forbidden');
    await rm(folderOf('save.linked'));
    await rename(outside, folderOf('save.linked'));
    const file = join(folderOf('save.linked'), 'query.sql');
    await rename(file, `${outside}.sql`);
    await symlink(`${outside}.sql`, file);
    expectError(await save('save.linked', change), 'forbidden');
    expect(await readFile(`${outside}.sql`, 'utf8')).toBe(COUNT);
    await rm(file);
    await rename(`${outside}.sql`, file);
  });

  test('with faults, or beside another definition with faults, is rejected and taken back', async () => {
    await save('save.undone');
    const before = [await readdir(endpointsDir), await textsIn('save.undone')];
    const { definition, version } = await filesOf('save.undone');
    const sql = 'SELECT count() AS n\nFROM edge_logs WHERE project = @projec';
    const rejected = await save('save.faulty', { sql });
    expectError(rejected, 'invalid_definition');
    expect(rejected.faults).toMatchObject([
      { parameter: 'sql', line: 2, column: 32 },
      { parameter: 'definition' },
    ]);
    const withId = `${definitionOf('save.faulty')}id: ${STORED_ID}\n`;
    const taken = await save('save.faulty', { definition: withId });
    expect(taken.body.error.message).toContain('"id" is that of test.stored');
    const other = join(folderOf('save.new'), 'query.sql');
    await writeFile(other, 'SELECT nothere AS n, @project AS p FROM edge_logs');
    const together = await save('save.undone', { definition, sql: `${COUNT}-- Changed.\n`, version });
    expectError(together, 'invalid_definition', 'nothere');
    expectError(await save('save.undone-new'), 'invalid_definition');
    await writeFile(other, COUNT);
    expect([await readdir(endpointsDir), await textsIn('save.undone')]).toEqual(before);
  });
});

test('saving is rejected unless the setting allows it, and if the definitions are the shipped ones', () => {
  const { config } = service;
  const { folders } = core;
  const find = (more: Partial<typeof config> = {}, shipped = folders.shipped) =>
    findWhyNotSaved('endpoints', {
      config: { ...config, ...more },
      folders: () => ({ ...folders, shipped }),
    });
  expect(find()).toBeUndefined();
  expect(find({ editEndpoints: '0' })).toContain('TAILRACE_EDIT_ENDPOINTS=1');
  expect(find({}, ['endpointsDir'])).toContain('ship with Tailrace');
});

describe('a result that becomes a test', () => {
  const tests = join(endpointsDir, 'test.stored/tests');
  const file = join(tests, 'results.yaml');
  const [values, now] = [{ project: 'aurora' }, '2026-11-20T12:00:00.000Z'];
  const add = (change: object = {}) =>
    post('tests', { name: 'test.stored', title: 'counts', now, values, rows: '[{"n":1}]', ...change });

  test('passes once its file has the events', async () => {
    expect((await add()).json).toMatchObject({
      file: 'tests/results.yaml',
      tests: [{ name: 'counts', passed: false, message: expect.stringContaining('expected') }],
    });
    const text = await readFile(file, 'utf8');
    const sent = `events: { cloudflare.logs.prod: [${JSON.stringify(event(1))}] }`;
    await writeFile(file, text.replace('events: {}', sent));
    const again = await add({ title: 'counts of others', values: { project: 'other' }, rows: '[{"n":0}]' });
    expect(again.json['tests']).toMatchObject([{ passed: true }, { passed: true }]);
    await rm(tests, { recursive: true });
  });

  test('is not written into a broken file, or through a link', async () => {
    await mkdir(tests);
    await writeFile(file, 'cases: 3\n');
    expectError(await add(), 'conflict');
    expect(await readFile(file, 'utf8')).toBe('cases: 3\n');
    await rename(file, join(folder.path, 'elsewhere'));
    await symlink(join(folder.path, 'elsewhere'), file);
    expectError(await add(), 'forbidden');
    expect(await readFile(join(folder.path, 'elsewhere'), 'utf8')).toBe('cases: 3\n');
  });
});
