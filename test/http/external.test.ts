import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { trusted } from '../../src/sql/sql.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { faultsIn } from '../support/faults.ts';
import { expectError, post } from '../support/http.ts';
import { ownFolder, ownService, writeFiles } from '../support/service.ts';

const folder = await ownFolder();
const env = await copyFewDefinitions(folder.path); // each test reloads them
const { TAILRACE_SOURCES_DIR: sourcesDir, TAILRACE_ENDPOINTS_DIR: endpointsDir } = env;
const NOW = Date.UTC(2026, 10, 20, 12);
const service = await ownService({ env, now: NOW });
const { core } = service;
const { engine } = core;

// As OpenTelemetry's collector makes it, with small granules so that few rows have several.
await engine.command(`CREATE TABLE tailrace.otel_logs (
    Timestamp DateTime64(9), ServiceName LowCardinality(String), Body String, SeverityText LowCardinality(String),
    TraceId Nullable(String), LogAttributes Map(LowCardinality(String), String), Bytes UInt64, timestamp String
  ) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (ServiceName, Timestamp) SETTINGS index_granularity = 64`);
await engine.command(`INSERT INTO tailrace.otel_logs SELECT
    toDateTime64('2026-11-20 00:00:00', 9, 'UTC') - toIntervalSecond(number * 20), concat('s', toString(number % 5)), concat('line ', toString(number)),
    ['INFO', 'ERROR'][number % 2 + 1], if(number % 3 = 0, NULL, 't'), map('http.status_code', toString(200 + number % 2 * 300)), if(number = 5, 18446744073709551615, number), 'x'
  FROM numbers(20000)`);

const FILE = join(sourcesDir, 'otel.logs.yaml');
const GOOD = `id: 0c7b8a52-6a0e-4b8e-9a4d-3f2a51c0de77
name: otel.logs
table: otel_events
description: What the collector writes.
managed: false
from: { table: otel_logs }
map:
  timestamp: Timestamp
  project: ServiceName
  event_message: Body -- the text
  metadata: toJSONString(LogAttributes)
columns:
  level: { type: keyword, expression: SeverityText, description: how bad }
  trace_id: { type: string, expression: TraceId, description: trace }
  bytes: { type: integer, expression: Bytes, description: size }
  status_code:
    type: integer
    expression: toInt64OrNull(LogAttributes['http.status_code'])
    description: status
`;

const SQL = `SELECT id, toUnixTimestamp64Micro(timestamp) AS at, event_message, metadata, level, trace_id, bytes, status_code
FROM otel_events WHERE project = @project AND timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 3 DAY
ORDER BY timestamp DESC LIMIT 3`;
const COLUMNS = {
  ...{ id: 'string', at: 'integer', event_message: 'string', metadata: 'json' },
  ...{ level: 'string', trace_id: 'string', bytes: 'integer', status_code: 'integer' },
};

async function writeEndpoint(name: string, more: string, sql: string, columns: object = COLUMNS) {
  const id = `5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c${String(name.length).padStart(2, '0')}`;
  const list = Object.entries(columns).map(([one, type]) => `  ${one}: { type: ${type}, description: x }`);
  const head = `id: ${id}\nname: ${name}\ndescription: x\nmax_rows: 100\n${more}\nparameters:`;
  const parameters = '  project: { type: string, required: true, description: x }\ncolumns:';
  const yaml = [head, parameters, ...list, ''].join('\n');
  await writeFiles(join(endpointsDir, name), { 'endpoint.yaml': yaml, 'query.sql': sql });
}

beforeEach(async () => {
  await writeFile(FILE, GOOD);
  await writeEndpoint('otel.newest', 'caching: disabled', SQL);
  await core.reload();
});

test('stored queries read an existing table by the name of the source', async () => {
  const { status, body } = await service.call('otel.newest', { project: 's1' });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.result).toHaveLength(3);
  expect(body.result[0]).toMatchObject({
    ...{ id: expect.stringMatching(/^[0-9A-F]{32}$/), event_message: 'line 1', level: 'ERROR' },
    ...{ metadata: { 'http.status_code': '500' }, trace_id: 't', bytes: 1, status_code: 500 },
  });
  expect((await service.call('otel.newest', { project: 's1' })).body).toEqual(body);
  const { body: others } = await service.call('otel.newest', { project: 's0' });
  expect(others.result.map((row) => [row['event_message'], row['bytes']])).toContainEqual(['line 5', null]);
});

test('the existing table is never changed, and a definition that is there is not made again', async () => {
  const inspect = (columns: string, name: string) =>
    engine.inspect(trusted(`SELECT ${columns} FROM system.tables WHERE name = '${name}'`));
  const definition = () => inspect('create_table_query, metadata_modification_time', 'otel_logs');
  const before = await definition();
  const made = () => inspect('uuid', 'otel_events');
  const view = await made();
  await core.reload();
  expect(await made()).toEqual(view);
  await writeFile(FILE, GOOD.replace('expression: SeverityText', 'expression: lower(SeverityText)'));
  await core.reload();
  expect(await made()).not.toEqual(view);
  const { body } = await service.call('otel.newest', { project: 's1' });
  expect(body.result[0]).toMatchObject({ level: 'error' });
  expect(await definition()).toEqual(before);
});

describe('faults are reported with file and line', () => {
  test.each([
    ['TraceId', 'must not be null, and is Nullable(String)'],
    ['"ServiceName AS p) AS a, (1"', ''],
    ['"file(\'/etc/passwd\')"', 'must not call file()'],
    ['"(SELECT name FROM system.users)"', 'must not read system'],
  ])('project: %s', async (wrong, message) => {
    await writeFile(FILE, GOOD.replace('project: ServiceName', `project: ${wrong}`));
    const faults = await faultsIn(core.reload);
    expect(faults).toContainEqual(expect.stringContaining(`${FILE}:9: "project" ${message}`));
  });

  test('a name that is taken is rejected, and what has it is left alone', async () => {
    await writeFile(FILE, GOOD.replace('table: otel_events', 'table: otel_logs'));
    await expect(core.reload()).rejects.toThrow('the database has a table called otel_logs already');
    await engine.command('CREATE VIEW tailrace.someones AS SELECT 1 AS one');
    await writeFile(FILE, GOOD.replace('table: otel_events', 'table: someones'));
    await expect(core.reload()).rejects.toThrow('the database has a view called someones already');
    expect(await engine.inspect('SELECT * FROM someones')).toEqual([{ one: 1 }]);
    await writeFile(FILE, GOOD.replace(/managed[\s\S]*$/, 'project: project\n'));
    const taken = 'the database has a view called otel_events; take another name';
    await expect(core.reload()).rejects.toThrow(taken);
  });
});

test('nothing is sent to it, by any way', async () => {
  for (const path of ['/api/logs?source_name=otel.logs', '/v1/logs?source_name=otel.logs']) {
    const body = path.startsWith('/v1') ? { resourceLogs: [] } : { event_message: 'x' };
    const answer = await post(service.url, path, body);
    expectError(answer, 'invalid_request', 'reads an existing table (managed: false)');
  }
});

test('query sandboxing and pins hold on it as on others', async () => {
  await writeEndpoint(
    'otel.open',
    'caching: disabled\nquery_sandboxing: true',
    `WITH lines AS (SELECT event_message, level FROM otel_events WHERE project = @project)\nSELECT event_message, level FROM lines LIMIT 1`,
    { event_message: 'string', level: 'string' },
  );
  await core.reload();
  const byLevel = 'SELECT level, count() AS n FROM lines GROUP BY level ORDER BY level';
  const own = await service.call('otel.open', { project: 's2', sql: byLevel });
  expect(own.body.result).toEqual(['ERROR', 'INFO'].map((level) => ({ level, n: 2000 })));
  for (const table of ['otel_events', 'otel_logs']) {
    const sql = `SELECT count() AS n FROM ${table}`;
    expect((await service.call('otel.open', { project: 's2', sql })).status).toBe(400);
  }
  const key = await service.newKey({ pins: { project: 's3' } });
  const pinned = await service.call('otel.newest', {}, { 'x-api-key': key });
  expect(pinned.body.result[0]).toMatchObject({ event_message: 'line 3' });
  const other = await service.call('otel.newest', { project: 's1' }, { 'x-api-key': key });
  expect(other.status).toBe(403);
  await rm(join(endpointsDir, 'otel.open'), { recursive: true });
});
