import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GENERAL_SOURCE } from '../../src/definitions/accepts.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { EDGE, QUERY_PATH, request } from '../support/http.ts';
import { ownFolder, ownService, storeEvents } from '../support/service.ts';

// What a key that is limited to endpoints and sources learns of others: nothing, by any route.
const folder = await ownFolder();
const SEEN = { name: 'seen.endpoint', id: 'a0000000-0000-4000-8000-0000000000a1' };
const HIDDEN = { name: 'hidden.endpoint', id: 'a0000000-0000-4000-8000-0000000000a2' };
const sql = 'SELECT count() AS n FROM edge_logs WHERE project = @project';
for (const one of [SEEN, HIDDEN])
  await addEndpoint(join(folder.path, 'endpoints'), { ...one, sql, caching: 900 });
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const env = { TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints') };
const service = await ownService({ env, now: NOW_MS });
const { url, core } = service;
const { sources } = core.registry;
const hiddenSource = core.registry.getSource('postgres.logs');
const events = (project: string) => [{ id: project, timestamp: new Date(NOW_MS).toISOString(), project }];
await storeEvents(core, EDGE, events('in-edge'), NOW_MS);
await storeEvents(core, 'postgres.logs', events('in-postgres'), NOW_MS);

const LISTS = { endpoints: [SEEN.name], sources: [EDGE] };
const SCOPES = ['query', 'ingest', 'manage'] as const;
const createKey = (lists: object) => service.newKey({ scopes: SCOPES, ...lists });
const key = await createKey(LISTS);
const sender = await createKey({ sources: [EDGE] });

/** Names and UUIDs that the key must not learn. That of the general source, `logs`, is a part of names that it may know. */
const SECRETS = [
  HIDDEN.name,
  HIDDEN.id,
  'hidden_endpoint',
  ...sources.filter(({ name }) => name !== EDGE).flatMap(({ name, id, table }) => [name, id, table]),
].filter((secret) => secret !== GENERAL_SOURCE);

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string;
}

async function send({ method = 'GET', path, headers = {}, body, key: by = key }: Sent) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await request(url, path, {
    method,
    headers: { 'x-api-key': by, ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const head = [...answer.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
  const text = answer.text.replaceAll(/"request_id":"[^"]*"/g, '""');
  return { ...answer, said: `${answer.status} ${JSON.stringify(head)} ${text}` };
}

const post = (path: string, body: object, headers = {}): Sent => ({ method: 'POST', path, body, headers });
const EVENTS = { accept: 'text/event-stream' };
const NEW_KEY = { name: 'x', scopes: ['query'], sources: [EDGE] };
const searchOf = (name: string): Sent => ({ path: `/api/search?source=${name}`, key: sender });

/** Requests with a place for the UUID or name of an endpoint or a source. */
const QUESTIONS: readonly [string, 'endpoint' | 'source', (name: string) => Sent][] = [
  ['a query', 'endpoint', (name) => ({ path: `${QUERY_PATH}/${name}?project=p` })],
  ['a faulty query', 'endpoint', (name) => ({ path: `${QUERY_PATH}/${name}?format=nope&cursor=x` })],
  ['a tail', 'endpoint', (name) => ({ path: `${QUERY_PATH}/${name}`, headers: EVENTS })],
  ['the files of an endpoint', 'endpoint', (name) => ({ path: `/api/workbench/endpoints/${name}` })],
  ['a new key', 'endpoint', (name) => post('/api/keys', { ...NEW_KEY, endpoints: [name] })],
  ['a new token', 'endpoint', (name) => post('/api/tokens', { endpoints: [name] })],
  ['a new token of sources', 'source', (name) => post('/api/tokens', { sources: [name] })],
  ['a search', 'source', (name) => searchOf(name)],
  ['a tail of a search', 'source', (name) => ({ ...searchOf(name), headers: EVENTS })],
  ['events by query', 'source', (name) => post(`/api/logs?source=${name}`, {})],
  ['events by header', 'source', (name) => post('/api/logs', {}, { 'x-source': name })],
  ['events by body', 'source', (name) => post('/api/logs', { source: name, batch: [{}] })],
  ['records by header', 'source', (name) => post('/v1/logs', {}, { 'x-source': name })],
];

describe('a key with lists gets the same response for what it lacks and for what does not exist:', () => {
  const HIDDEN_IDS = {
    endpoint: [HIDDEN.name, HIDDEN.id, HIDDEN.id.toUpperCase()],
    source: [hiddenSource.name, hiddenSource.id, hiddenSource.id.toUpperCase()],
  };
  const NOTHING = { endpoint: 'nothing.x', source: 'nothing.x' };

  test.each(QUESTIONS)('%s', async (_, kind, ask) => {
    const unknown = await send(ask(NOTHING[kind]));
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    for (const name of HIDDEN_IDS[kind]) {
      const hidden = await send(ask(name));
      const own = (text: string, sent: string) =>
        text
          .replaceAll(sent, '<sent>')
          .replaceAll(sent.toLowerCase(), '<sent>')
          .replace(/\["content-length","\d+"\]/, '');
      expect(own(hidden.said, name)).toBe(own(unknown.said, NOTHING[kind]));
      expectNoSecret(hidden.said, name);
    }
  });

  test('a missing endpoint of its list, whose name is near to a hidden one', async () => {
    const gone = 'hidden.endpoints';
    const own = await createKey({ endpoints: [gone] });
    const { status, said } = await send({ path: `${QUERY_PATH}/${gone}?project=p`, key: own });
    expect(status).toBe(404);
    expectNoSecret(said, gone);
  });

  test('tools of agents', async () => {
    const headers = { accept: 'application/json, text/event-stream' };
    const ask = (method: string, params: object) =>
      send({ method: 'POST', path: '/mcp', headers, body: { jsonrpc: '2.0', id: 1, method, params } });
    expectNoSecret((await ask('tools/list', {})).said);
    const hidden = await ask('tools/call', { name: 'hidden_endpoint', arguments: {} });
    const unknown = await ask('tools/call', { name: 'hibden_endpoint', arguments: {} });
    expect(hidden.said.replaceAll('hidden_endpoint', 'hibden_endpoint')).toBe(unknown.said);
  });
});

test('no route names to a key with lists what it lacks', async () => {
  // Each is counted, so that metrics and overview have something to hide.
  for (const { id } of [SEEN, HIDDEN]) expect((await service.call(id, { project: 'p' })).status).toBe(200);
  const headers = { 'content-type': 'application/json' };
  for (const name of [EDGE, 'postgres.logs', 'nowhere'])
    await request(url, `/api/logs?source_name=${name}`, { method: 'POST', headers, body: '[{},5]' });
  const paths = ROUTES.filter(({ method }) => method === 'GET').flatMap(({ paths: all }) => all);
  for (const path of paths) {
    const asked = path.replace(':endpoint', SEEN.name).replace(/:\w+|\*/, 'x');
    const { said } = await send({ path: `${asked}?project=p` });
    // Its operations and descriptions are the same for all.
    expectNoSecret(path === '/openapi.json' ? said.replaceAll('postgres.logs', '') : said);
  }
});

test('the metrics of a key with lists are those of what it has, and those of no endpoint', async () => {
  const all = await request(url, '/metrics');
  expect(all.text).toContain(`endpoint="${HIDDEN.name}"`);
  expect(all.text).toContain('source="postgres.logs"');
  const { text } = await send({ path: '/metrics' });
  for (const shown of [
    ...[`tailrace_answers_total{endpoint="${SEEN.name}"`, `tailrace_events_stored_total{source="${EDGE}"}`],
    ...['tailrace_http_requests_total{route="/metrics",endpoint=""', 'tailrace_cache_entries '],
    'nodejs_eventloop_lag_seconds',
  ])
    expect(text).toContain(shown);
  const bySource = await send({ path: '/metrics', key: sender });
  expect(bySource.text).toContain(`endpoint="${HIDDEN.name}"`);
  expect(bySource.text).not.toContain('source="postgres.logs"');
});

test('the projects of a key with sources are those that have events there', async () => {
  const { body } = await send({ path: '/api/projects', key: sender });
  expect(body).toEqual({ result: ['in-edge'], complete: true });
  expect((await request(url, '/api/projects')).body).toMatchObject({ result: ['in-edge', 'in-postgres'] });
});

function expectNoSecret(said: string, sent = ''): void {
  const text = said.toLowerCase().replaceAll(sent === '' ? '\0' : sent.toLowerCase(), '');
  const found = SECRETS.filter((secret) => text.includes(secret.toLowerCase()));
  expect(found, said.slice(0, 3_000)).toEqual([]);
}
