import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { writeDefinitions } from '../sandbox/support.ts';
import { ENDLESS_SQL } from '../support/endpoints.ts';
import { type Body, expectError, post } from '../support/http.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

const YAML = `id: 7dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: logs.of-app
description: Entries of one project, newest first.
max_rows: 1000
caching: 900
parameters:
  project: { type: string, required: true, description: A project. }
  min_status: { type: integer, min: 100, max: 599, examples: [500], description: The least status. }
  statuses: { type: list, of: integer, description: Any of them. }
  since: { type: timestamp, description: From this instant on. }
columns:
  id: { type: string, description: An id. }
  status: { type: integer, description: A status. }
  metadata: { type: json, description: The whole event. }
`;
const SQL = `SELECT id, status, metadata FROM app_logs
WHERE project = @project AND (@min_status IS NULL OR status >= @min_status) AND (empty(@statuses) OR status IN @statuses)
  AND (@since = '' OR timestamp >= parseDateTime64BestEffortOrNull(@since, 6, 'UTC'))
ORDER BY timestamp DESC, id`;

const TOTAL = `id: 8dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: logs.total
description: A total.
max_rows: 10
caching: disabled
columns: { n: { type: integer, description: A count. } }
`;

const definitions = await writeDefinitions({
  'endpoints/logs.of-app/endpoint.yaml': YAML,
  'endpoints/logs.of-app/query.sql': SQL,
  'endpoints/logs.total/endpoint.yaml': TOTAL,
  'endpoints/logs.total/query.sql': 'SELECT count() AS n FROM app_logs',
});
await addEndpoint(join(definitions.path, 'endpoints'), {
  name: 'endless.plain',
  id: 'a0000000-0000-4000-8000-000000000001',
  sql: ENDLESS_SQL,
  caching: 'disabled',
});
const lines: string[] = [];
const service = await ownService({
  env: { ...definitions.env, TAILRACE_CORS_ORIGINS: 'https://app.example.com' },
  bounds: { mcpBytesMax: 2_000 },
  logger: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
});
const { core, clock, url, newKey } = service;
const event = (project: string, i: number) => ({
  id: `${project}${i}`,
  timestamp: new Date(clock.now - i * 1000).toISOString(),
  project,
  event_message: 'x',
  metadata: { status: [200, 404, 503][i % 3], note: 'a "}" in { a text \\' },
});
const events = Array.from({ length: 40 }, (_, i) =>
  (i < 6 ? ['p', 'q'] : ['p']).map((p) => event(p, i)),
).flat();
await storeEvents(core, 'app.logs', events, clock.now);

const clients: Client[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

const MODERN = { pin: '2026-07-28' };

async function connect(headers: Record<string, string>, mode: 'legacy' | typeof MODERN = MODERN) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  clients.push(client);
  return client;
}
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name).join(' ');
const withKey = (key: string) => connect({ 'x-api-key': key });

interface Structured {
  readonly result: readonly { readonly id: string; readonly status: number }[];
  readonly truncated?: string;
}
/** What a tool returns; its text has to say the same. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  if (isError !== true) expect(JSON.parse(text)).toEqual(structuredContent);
  // The SDK's client has checked it against the tool's output schema.
  return { isError: isError === true, text, ...(structuredContent as Partial<Structured> | undefined) };
}

const all = await withKey(PRIVATE_KEY);

test.each([
  ['2026-07-28', MODERN],
  ['2025-11-25', 'legacy'],
] as const)(
  'a client of the protocol of %s lists endpoints as tools and calls them, with a key in either header',
  async (version, mode) => {
    for (const headers of [{ 'x-api-key': PRIVATE_KEY }, { authorization: `Bearer ${PRIVATE_KEY}` }]) {
      const client = await connect(headers, mode);
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      const { tools } = await client.listTools();
      expect(namesOf(tools)).toBe('endless_plain logs_of_app logs_total sandbox_off sandbox_on');
      const rows = (await call(client, 'logs_of_app', { project: 'q', min_status: 404 })).result;
      expect(rows?.map(({ id, status }) => ({ id, status }))).toEqual([
        { id: 'q1', status: 404 },
        { id: 'q2', status: 503 },
        { id: 'q4', status: 404 },
        { id: 'q5', status: 503 },
      ]);
    }
  },
);

test('a tool returns whole rows up to the bound, and says how many are missing and what would narrow it', async () => {
  const { result = [], truncated, text } = await call(all, 'logs_of_app', { project: 'p' });
  expect(result.length).toBeGreaterThan(5);
  expect(result.map(({ id }) => id)).toEqual(result.map((_, i) => `p${i}`));
  expect(JSON.stringify(result).length).toBeLessThan(2_000);
  expect(truncated).toBe(
    `the first ${result.length} of 40 rows, since an answer has at most 2000 bytes of rows; ask for less with project, min_status, statuses, since`,
  );
  expect(text.length).toBeLessThan(2_300);
  const since = new Date(clock.now - 1_500).toISOString();
  expect(await call(all, 'logs_of_app', { project: 'p', since })).not.toHaveProperty('truncated');
});

describe('a key', () => {
  test('sees only the endpoints that it may read', async () => {
    const client = await withKey(await newKey({ endpoints: ['logs.total'] }));
    expect(namesOf((await client.listTools()).tools)).toBe('logs_total');
    const called = client.callTool({ name: 'logs_of_app', arguments: { project: 'p' } });
    await expect(called).rejects.toThrow('no tool');
  });

  test('with a pin has no argument for it, reads its own project alone, and no endpoint without one', async () => {
    const client = await withKey(await newKey({ pins: { project: 'q' } }));
    const { tools } = await client.listTools();
    expect(namesOf(tools)).toBe('endless_plain logs_of_app sandbox_off sandbox_on');
    expect(Object.keys(tools[1]?.inputSchema.properties ?? {})).toEqual(['min_status', 'statuses', 'since']);
    const { result = [] } = await call(client, 'logs_of_app');
    expect(result.map(({ id }) => id)).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q5']);
    const foreign = await call(client, 'logs_of_app', { project: 'p' });
    expect(foreign).toEqual({ isError: true, text: 'forbidden: project is pinned to "q" by the key' });
    const missing = (name: string) => expect(client.callTool({ name, arguments: {} })).rejects;
    await missing('logs_total').toThrow('no tool is called "logs_total"; tools/list');
    const near = 'no tool is called "log_of_app"; did you mean logs_of_app? tools/list';
    await missing('log_of_app').toThrow(near);
  });
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const send = (body: Body, headers: Record<string, string> = {}) =>
  post(url, '/mcp', body, { ...TYPES, ...headers });

test('a message of 3 MB is refused', async () => {
  expectError(await send({ ...LIST, params: { x: 'x'.repeat(3_000_000) } }), 'body_too_large');
});

test.each(['null', 'https://app.example.com.evil.com'])(
  'a page of an origin that is not listed is refused: %s',
  async (origin) => {
    const answer = await send(LIST, { origin });
    expectError(answer, 'forbidden');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  },
);

test('the query of an agent that hangs up is stopped', async () => {
  const controller = new AbortController();
  const params = { name: 'endless_plain', arguments: { project: 'p' } };
  const body = JSON.stringify({ ...LIST, method: 'tools/call', params });
  const headers = { ...TYPES, 'x-api-key': PRIVATE_KEY };
  const sent = fetch(`${url}/mcp`, { method: 'POST', headers, body, signal: controller.signal });
  await expect.poll(() => core.engine.gauges().running).toBe(1);
  controller.abort();
  await expect(sent).rejects.toThrow('aborted');
  await expect.poll(() => core.engine.gauges().running).toBe(0);
  await expect.poll(() => lines.join()).toContain('"status":499');
});
