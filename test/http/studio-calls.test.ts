import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { PRIVATE_KEY, PUBLIC_KEY, startTestService } from '../support/service.ts';

// A stub of what Studio's server and the Vector of a self-hosted Supabase send, by paths, headers, parameters and bodies.

const NOW = Date.UTC(2026, 10, 20, 12);
const service = await startTestService({
  env: { TAILRACE_STUDIO: '1', TAILRACE_DEFAULT_PROJECT: 'default', TAILRACE_DEFAULT_TIER: 'PRO' },
  now: NOW,
});
afterAll(service.close);

const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const micros = (secondsAgo: number) => (NOW - secondsAgo * 1000) * 1000;

const entry = (secondsAgo: number, event_message: string, metadata: object, more: object = {}) => ({
  timestamp: at(secondsAgo),
  event_message,
  metadata,
  ...more,
});
const DEFAULT = { project: 'default' };
function gateway(secondsAgo: number, path: string, status: number): object {
  const request = { method: 'GET', path, protocol: 'HTTP/1.1', headers: { user_agent: 'curl' } };
  const metadata = { request, response: { status_code: status } };
  return entry(secondsAgo, `"GET ${path} HTTP/1.1" ${status}`, metadata, {
    ...DEFAULT,
    appname: 'supabase-kong',
  });
}
const PARSED = { host: 'db-default', parsed: { error_severity: 'ERROR', timestamp: at(20) } };
const CONTEXT = { ...DEFAULT, level: 'info', context: [{ host: 'a' }, { host: 'b' }] };

/** Source → the events of one body, as Vector sends them. */
const POSTS: Readonly<Record<string, readonly object[]>> = {
  'cloudflare.logs.prod': [
    gateway(10, '/rest/v1/orders?select=*', 200),
    gateway(70, '/auth/v1/token', 400),
    gateway(130, '/functions/v1/hello', 503),
  ],
  'postgres.logs': [entry(20, 'relation "x" does not exist', PARSED, DEFAULT)],
  'gotrue.logs.prod': [entry(30, '{"msg":"login"}', { level: 'info', status: '200', msg: 'login' }, DEFAULT)],
  'realtime.logs.prod': [entry(50, 'joined', { ...DEFAULT, level: 'info', external_id: 'default' })],
  'storage.logs.prod.2': [entry(60, 'GET object', CONTEXT)],
  'deno-relay-logs': [entry(45, 'hello', { project_ref: 'default' })],
};

async function send(source: string, events: readonly object[]): Promise<void> {
  const response = await fetch(`${service.url}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'x-api-key': PUBLIC_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  if (!response.ok) throw new Error(`${source}: ${response.status} ${await response.text()}`);
}
for (const [source, events] of Object.entries(POSTS)) await send(source, events);

/** As Studio's server asks: each parameter that it knows of, empty ones too. */
async function ask(endpoint: string, parameters: Readonly<Record<string, string>> = {}) {
  const all = { project: 'default', iso_timestamp_start: '', iso_timestamp_end: '', ...parameters };
  const query = new URLSearchParams(all);
  const response = await fetch(`${service.url}/api/endpoints/query/${endpoint}?${query}`, {
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
  });
  const body = (await response.json()) as {
    result?: Record<string, unknown>[];
    error?: { message: unknown };
  };
  return { status: response.status, ...body };
}
const rowsOf = async (sql: string, parameters = {}) => {
  const { result, error } = await ask('logs.all', { sql, ...parameters });
  if (result === undefined) throw new Error(`${sql}: ${String(error?.message)}`);
  return result;
};

const UNNESTED = `cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

describe('a log page', () => {
  test('has the newest rows, each with a time in microseconds', async () => {
    const rows =
      await rowsOf(`select id, edge_logs.timestamp, event_message, request.method, request.path, response.status_code
      from edge_logs ${UNNESTED} order by timestamp desc limit 100`);
    expect(rows).toMatchObject([
      { timestamp: micros(10), method: 'GET', path: '/rest/v1/orders?select=*', status_code: 200 },
      { timestamp: micros(70), path: '/auth/v1/token', status_code: 400 },
      { timestamp: micros(130), path: '/functions/v1/hello', status_code: 503 },
    ]);
    expect(String(rows[0]?.['timestamp'])).toMatch(/^\d{16}$/);
  });

  test('opens one entry, with each object of the metadata as a list of one', async () => {
    const [first] = await rowsOf(`select id from edge_logs order by timestamp desc limit 1`);
    const rows = await rowsOf(
      `select id, timestamp, event_message, metadata from edge_logs where id = '${first?.['id']}' limit 1`,
    );
    const path = '/rest/v1/orders?select=*';
    const request = [{ method: 'GET', path, headers: [{ user_agent: 'curl' }] }];
    expect(rows).toMatchObject([
      { timestamp: micros(10), metadata: [{ request, response: [{ status_code: 200 }] }] },
    ]);
    expect(await rowsOf('select metadata from storage_logs')).toEqual([
      { metadata: [{ project: 'default', level: 'info', context: [{ host: 'a' }, { host: 'b' }] }] },
    ]);
  });

  test('has a chart by minute', async () => {
    const rows = await rowsOf(`SELECT
      -- log-event-chart
      timestamp_trunc(t.timestamp, minute) as timestamp,
      count(CASE WHEN NOT (response.status_code >= 400) THEN 1 END) as ok_count,
      count(CASE WHEN response.status_code >= 500 THEN 1 END) as error_count,
      count(CASE WHEN response.status_code >= 400 AND response.status_code < 500 THEN 1 END) as warning_count,
      FROM edge_logs t ${UNNESTED.replace('unnest(metadata)', 'unnest(t.metadata)')}
      GROUP BY timestamp ORDER BY timestamp ASC`);
    expect(rows).toEqual([
      { timestamp: micros(180), ok_count: 0, error_count: 1, warning_count: 0 },
      { timestamp: micros(120), ok_count: 0, error_count: 0, warning_count: 1 },
      { timestamp: micros(60), ok_count: 1, error_count: 0, warning_count: 0 },
    ]);
  });

  test.each([
    ['postgres_logs', 'parsed.error_severity', 'cross join unnest(m.parsed) as parsed', 'ERROR'],
    ['auth_logs', 'm.msg', '', 'login'],
    ['realtime_logs', 'm.level', '', 'info'],
  ])('reads %s', async (table, field, more, value) => {
    const sql = `select id, ${field} as field from ${table} cross join unnest(metadata) as m ${more}`;
    expect(await rowsOf(sql)).toEqual([{ id: expect.any(String), field: value }]);
  });
});

describe('the Logs Explorer', () => {
  test.each([
    ['drop table edge_logs', /SELECT|understood/],
    ['select * from edge_logs_of_others', /edge_logs_of_others/],
    ['select session_user() from edge_logs', /session_user/i],
  ])('gets the reason why %s is refused', async (sql, message) => {
    const { status, result, error } = await ask('logs.all', { sql });
    expect([status, result]).toEqual([400, undefined]);
    expect(error?.message).toMatch(message);
  });

  test('reads no other project', async () => {
    const other = { project: 'other' };
    expect(await rowsOf('select count(*) as n from edge_logs', other)).toEqual([{ n: 0 }]);
    expect(await rowsOf(`select id from edge_logs where 'default' = 'default' or true`, other)).toEqual([]);
  });
});

test('texts with quotes are read as current versions and as older ones write them', async () => {
  const project = 'quotes';
  const messages = ["it's done", "'COMMIT'", 'a\\\\s b', 'two words', 'one\nnext'];
  const events = messages.map((event_message, i) => ({ timestamp: at(i + 1), project, event_message }));
  await send('postgres.logs', events);
  /** A value as Studio writes it since May 2026. */
  const literal = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
  const found = async (condition: string) => {
    const sql = `select event_message from postgres_logs where ${condition} order by timestamp desc`;
    return (await rowsOf(sql, { project })).map((row) => row['event_message']);
  };
  for (const message of messages)
    expect(await found(`event_message = ${literal(message)}`)).toEqual([message]);
  expect(await found(`regexp_contains(event_message, ${literal('o\\sw')})`)).toEqual(['two words']);
  const older = String.raw`regexp_contains(event_message, 'it\'s|o\\sw')`;
  expect(await found(older)).toEqual(["it's done", 'two words']);
  const wrong = String.raw`select id from postgres_logs where regexp_contains(event_message, 'o\sw')`;
  const { status, error } = await ask('logs.all', { project, sql: wrong });
  expect([status, error?.message]).toEqual([400, expect.stringMatching(/the escape \\s.*line 1, column 67/)]);
  const hiding = `select ${literal("\\' or '1'='1")} as a, ${literal('\\')} as b, '' as c, '''' as d`;
  expect(await rowsOf(hiding)).toEqual([{ a: "\\' or '1'='1", b: '\\', c: '', d: "'" }]);
});

test('the pages of newer versions send ClickHouse’s SQL over one view', async () => {
  const sql = `SELECT source, severity_text, log_attributes['request.method'] AS method FROM logs
    WHERE log_attributes['response.status_code'] = '503' ORDER BY timestamp DESC LIMIT 100`;
  const { result } = await ask('logs.all.otel', { sql });
  expect(result).toEqual([{ source: 'edge_logs', severity_text: 'ERROR', method: 'GET' }]);
});

describe('counts and charts', () => {
  test.each([
    [
      'usage.api-counts',
      { interval: '1day' },
      { timestamp: '2026-11-20T11:00:00', total_rest_requests: 1, total_auth_requests: 1 },
    ],
    [
      'usage.api-counts',
      { interval: 'hourly' },
      { timestamp: '2026-11-20T11:00:00', total_rest_requests: 1 },
    ],
    ['usage.api-requests-count', {}, { count: 3 }],
    [
      'functions.invocation-stats',
      { interval: '1hr', function_id: 'hello' },
      { timestamp: micros(180), count: 1, error_count: 1, avg_execution_time: null },
    ],
    [
      'functions.combined-stats',
      { interval: '3hr', function_id: '' },
      { timestamp: micros(300), requests_count: 1, server_err_count: 1, log_count: 1 },
    ],
    ['service-health', {}, { timestamp: micros(180), service: 'functions', count: 1, error_count: 1 }],
  ] as const)('%s %j', async (endpoint, parameters, row) => {
    const { status, result } = await ask(endpoint, parameters);
    expect(status).toBe(200);
    expect(result?.[0]).toMatchObject(row);
  });
});

describe('the settings of Studio', async () => {
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const plain = await startTestService({ logger });
  afterAll(plain.close);
  const get = async (of: string, path: string) => {
    const response = await fetch(`${of}${path}`, { headers: { 'x-api-key': PRIVATE_KEY } });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const drains = '/api/backends?metadata[type]=log-drain';

  test('make its endpoints, its list of sources, and its empty list of log drains', async () => {
    const { endpoints } = service.core.registry;
    expect(endpoints.find(({ name }) => name === 'logs.all')?.sandboxing).toBe(true);
    const tiers = endpoints.flatMap((one) => one.parameters.filter(({ name }) => name === 'project_tier'));
    expect(tiers[0]).toMatchObject({ fallback: 'PRO', defaultText: 'PRO' });
    const id = 'dca3fc05-a0a4-4270-92ac-ecfc72d28b68';
    const edge = expect.objectContaining({ id, name: 'cloudflare.logs.prod' });
    expect((await get(service.url, '/api/sources')).body).toContainEqual(edge);
    expect(await get(service.url, drains)).toEqual({ status: 200, body: [] });
    expect((await fetch(`${service.url}${drains}`)).status).toBe(401);
  });

  test('are named if they are missing: once for all requests with sql', async () => {
    expect((await get(plain.url, '/api/sources')).body).toMatchObject({ result: { length: 12 } });
    expect(await get(plain.url, drains)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringMatching(/TAILRACE_STUDIO=1/) } },
    });
    for (const sql of ['', 'select 1', 'select 2'])
      expect((await plain.call('logs.all', { project: 'default', sql })).status).toBe(200);
    expect(logged.filter((line) => line.includes('set TAILRACE_STUDIO=1'))).toHaveLength(1);
  });
});
