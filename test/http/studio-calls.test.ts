import { describe, expect, test } from 'vitest';
import { type Body, get, post } from '../support/http.ts';
import { type AnswerBody, ownService, PUBLIC_KEY } from '../support/service.ts';

// A stub of what Studio's server and the Vector of a self-hosted Supabase send, by paths, headers, parameters and bodies.

const NOW = Date.UTC(2026, 10, 20, 12);
const env = { TAILRACE_STUDIO: '1', TAILRACE_DEFAULT_PROJECT: 'default' };
const service = await ownService({ env, now: NOW });

const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const micros = (secondsAgo: number) => (NOW - secondsAgo * 1000) * 1000;

const entry = (secondsAgo: number, event_message: string, metadata: object, more: object = {}) => ({
  ...{ timestamp: at(secondsAgo), event_message, metadata, ...more },
});
const DEFAULT = { project: 'default' };
function gateway(secondsAgo: number, path: string, status: number): object {
  const request = { method: 'GET', path, protocol: 'HTTP/1.1', headers: { user_agent: 'curl' } };
  const metadata = { request, response: { status_code: status } };
  const more = { ...DEFAULT, appname: 'supabase-kong' };
  return entry(secondsAgo, `"GET ${path} HTTP/1.1" ${status}`, metadata, more);
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

const send = (source: string, events: Body) =>
  post(service.url, `/api/logs?source_name=${source}`, events, { 'x-api-key': PUBLIC_KEY });
for (const [source, events] of Object.entries(POSTS)) expect((await send(source, events)).status).toBe(200);

/** As Studio's server asks: each parameter that it knows of, empty ones too. */
async function ask(endpoint: string, parameters: Readonly<Record<string, string>> = {}) {
  const all = { project: 'default', iso_timestamp_start: '', iso_timestamp_end: '', ...parameters };
  const { status, body } = await service.call(endpoint, all, { 'content-type': 'application/json' });
  return { status, ...(body as Partial<AnswerBody>) };
}
const rowsOf = async (sql: string, parameters = {}) => {
  const { result, error } = await ask('logs.all', { sql, ...parameters });
  if (result === undefined) throw new Error(`${sql}: ${String(error?.message)}`);
  return result;
};

const UNNESTED = `cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

test('a log page has the newest rows, each with a time in microseconds', async () => {
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

describe('the Logs Explorer', () => {
  test('finds a record without the one that it is in, if no source declares it', async () => {
    const sql = `select host from storage_logs cross join unnest(metadata) as metadata
      cross join unnest(other) as other cross join unnest(context) as context order by host`;
    expect(await rowsOf(sql)).toEqual([{ host: 'a' }, { host: 'b' }]);
  });

  test('reads no other project', async () => {
    const other = { project: 'other' };
    expect(await rowsOf('select count(*) as n from edge_logs', other)).toEqual([{ n: 0 }]);
    expect(await rowsOf(`select id from edge_logs where 'default' = 'default' or true`, other)).toEqual([]);
  });
});

test('the pages of newer versions send ClickHouse’s SQL over one view', async () => {
  const sql = `SELECT source, severity_text, log_attributes['request.method'] AS method FROM logs
    WHERE log_attributes['response.status_code'] = '503' AND timestamp > now() - INTERVAL 1 HOUR ORDER BY timestamp DESC LIMIT 100`;
  const { result } = await ask('logs.all.otel', { sql });
  expect(result).toEqual([{ source: 'edge_logs', severity_text: 'ERROR', method: 'GET' }]);
  // Times as its documentation of the view has them.
  const times = `select logs.timestamp, toStartOfHour(timestamp) as hour, max(timestamp) over (), [timestamp] as list
    from logs where source = 'auth_logs' limit 1`;
  expect((await ask('logs.all.otel', { sql: times })).result).toEqual([
    {
      timestamp: '2026-11-20T11:59:30.000000',
      hour: '2026-11-20T11:00:00',
      'max(timestamp) OVER ()': '2026-11-20T11:59:30.000000',
      list: ['2026-11-20 11:59:30.000000'],
    },
  ]);
});

test('of equal keys all readers find the last: search, Studio’s both dialects and the typed column', async () => {
  const twice = `{"project":"default","component":"bar","component":"baz","level":"info","level":"error"}`;
  await send('gotrue.logs.prod', `[{"timestamp":"${at(15)}","event_message":"twice","metadata":${twice}}]`);
  const find = async (q: string) => {
    const { body } = await get(service.url, `/api/search?${new URLSearchParams({ q, project: 'default' })}`);
    return body.result.map((row) => row['event_message']);
  };
  expect([await find('component:baz'), await find('twice level:error')]).toEqual([['twice'], ['twice']]);
  expect([await find('component:bar'), await find('twice level:info')]).toEqual([[], []]);
  const map = `SELECT severity_text, log_attributes['level'] AS level, log_attributes['component'] AS component
    FROM logs WHERE event_message = 'twice'`;
  const { result } = await ask('logs.all.otel', { sql: map });
  expect(result).toEqual([{ severity_text: 'ERROR', level: 'error', component: 'baz' }]);
  const fields = `select m.level, m.component from auth_logs cross join unnest(metadata) as m where event_message = 'twice'`;
  expect(await rowsOf(fields)).toEqual([{ level: 'error', component: 'baz' }]);
});

const ELEVEN = { timestamp: '2026-11-20T11:00:00', total_rest_requests: 1 };
const INVOCATIONS = { timestamp: micros(180), count: 1, error_count: 1, avg_execution_time: null };
const COMBINED = { timestamp: micros(300), requests_count: 1, server_err_count: 1, log_count: 1 };

test.each([
  ['usage.api-counts', { interval: '1day' }, { ...ELEVEN, total_auth_requests: 1 }],
  ['usage.api-counts', { interval: 'hourly' }, ELEVEN],
  ['usage.api-requests-count', {}, { count: 3 }],
  ['functions.invocation-stats', { interval: '1hr', function_id: 'hello' }, INVOCATIONS],
  ['functions.combined-stats', { interval: '3hr', function_id: '' }, COMBINED],
  ['service-health', {}, { timestamp: micros(180), service: 'functions', count: 1, error_count: 1 }],
] as const)('counts and charts: %s %j', async (endpoint, parameters, row) => {
  const { status, result } = await ask(endpoint, parameters);
  expect(status).toBe(200);
  expect(result?.[0]).toMatchObject(row);
});

test('the setting of Studio makes its endpoints, its list of sources, and its empty list of log drains', async () => {
  const { endpoints } = service.core.registry;
  expect(endpoints.find(({ name }) => name === 'logs.all')?.sandboxing).toBe(true);
  const id = 'dca3fc05-a0a4-4270-92ac-ecfc72d28b68';
  const edge = expect.objectContaining({ id, name: 'cloudflare.logs.prod' });
  expect((await get(service.url, '/api/sources')).body).toContainEqual(edge);
  const drains = '/api/backends?metadata[type]=log-drain';
  expect((await get(service.url, drains)).body).toEqual([]);
  expect((await get(service.url, drains, { 'x-api-key': '' })).status).toBe(401);
});
