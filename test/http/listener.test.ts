import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { edgeEvents } from '../support/events.ts';
import { EDGE, QUERY_PATH, sendRaw, throughFramework } from '../support/http.ts';
import { ownService, PRIVATE_KEY, PUBLIC_KEY, storeEvents } from '../support/service.ts';
import { comparable, createWays } from '../support/ways.ts';

const ORIGIN = 'https://app.example.com';
const endpoints = await copyEndpoints();
await addEndpoint(endpoints, {
  name: 'changing',
  id: 'a0000000-0000-4000-8000-000000000003',
  sql: 'SELECT toInt64(1) AS n FROM numbers(1) WHERE @project != @now',
  caching: 900,
});
const lines: Record<string, unknown>[] = [];
const service = await ownService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints,
    TAILRACE_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8',
    TAILRACE_CORS_ORIGINS: ORIGIN,
  },
  logger: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) }),
});
const { url, clock, core } = service;
const { keyring } = service.service;

const PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=minutely`;
const { ask, askFramework } = createWays(service, PATH);

type Headers = Readonly<Record<string, string>>;

await storeEvents(core, EDGE, edgeEvents(59, 'p1', 60_000), clock.now);

describe('a question that was asked before is answered ahead of the framework', () => {
  test.each<[string, Headers]>([
    ['with a key as Bearer', { 'x-api-key': '', authorization: `Bearer ${PRIVATE_KEY}` }],
    ['by a browser', { accept: 'application/json, */*;q=0.5', 'accept-encoding': 'gzip, deflate, br, zstd' }],
    ['through proxies', { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'mine' }],
    ['by a page of a listed origin', { origin: ORIGIN }],
    ['by a page of another origin', { origin: 'https://evil.example.com' }],
  ])('%s, in the same way', async (_, headers) => {
    await ask(headers); // makes the answer, or its form
    clock.now += 1_500;
    const answer = await ask(headers);
    expect(answer.byFramework).toBe(false);
    expect(answer.headers['cache-status']).toMatch(/^Tailrace; hit; ttl=\d+$/);
    expect(comparable(answer)).toEqual(comparable(await askFramework(headers)));
    expect(answer.headers['x-request-id']).toMatch(headers['x-request-id'] ?? /^[0-9a-f-]{36}$/);
  });

  test('with a signed token, as long as its key is good for it', async () => {
    const { id, key } = await keyring.create({ name: 'signs', scopes: ['query'] });
    const signing = await keyring.authenticate(key);
    const grant = { scopes: ['query'], pins: { project: 'p1' }, expiresMs: clock.now + 60_000 } as const;
    const headers = { 'x-api-key': (await keyring.mint(signing, grant)).token };
    await ask(headers);
    const answer = await ask(headers);
    expect(answer).toMatchObject({ status: 200, byFramework: false });
    expect(comparable(answer)).toEqual(comparable(await askFramework(headers)));
    await keyring.update(id, { pins: { project: 'p2' } });
    expect((await ask(headers)).status).toBe(401);
  });
});

test('X-Forwarded-For of trusted proxies is the caller’s address in the log, without what the caller sent itself', async () => {
  const id = 'forwarded';
  const headers = { 'x-forwarded-for': '1.1.1.1, 203.0.113.7, 10.1.2.3', 'x-request-id': id };
  const logged = () => lines.filter(({ reqId }) => reqId === id).map(({ ip }) => ip);
  await ask(headers);
  await askFramework(headers);
  await expect.poll(logged).toEqual(['203.0.113.7', '203.0.113.7']);
});

describe('goes on to the framework, which knows the rules:', () => {
  beforeAll(() => ask());

  test.each<[string, number, Headers, { method?: string; path?: string }?]>([
    ['a wrong key', 401, { 'x-api-key': 'wrong' }],
    ['a key that is not UTF-8', 400, { 'x-api-key': 'cl\xe9' }],
    ['a key without the scope', 403, { 'x-api-key': PUBLIC_KEY }],
    ['a caller that takes no JSON', 406, { accept: 'text/html' }],
    ['a caller that wants it newer', 200, { 'cache-control': 'no-cache' }],
    ['an endpoint without caching', 200, {}, { path: `${QUERY_PATH}/logs.all?project=p1` }],
    ['a parameter sent twice', 400, {}, { path: `${PATH}&project=p1` }],
  ])('%s: %i', async (_, status, headers, how) => {
    for (let i = 0; i < 2; i++) expect((await ask(headers, how)).status).toBe(status);
  });
});

describe('a head that can be read in two ways is answered the same by both, once:', () => {
  beforeAll(() => ask());

  /** The status line and what follows the head, without ids and times, and how often an answer began. */
  async function askRaw(head: string, body: string) {
    const first = `GET ${PATH} HTTP/1.1\r\nX-API-KEY: ${PRIVATE_KEY}\r\nConnection: close\r\n`;
    const bytes = await sendRaw(url, `${first}${head}\r\n${body}`);
    const [answerHead = '', ...rest] = bytes.split('\r\n\r\n');
    const text = rest.join('').replace(/"request_id":"[^"]*"/, '');
    return { status: answerHead.split('\r\n')[0], text, answers: bytes.match(/HTTP\/1\.1 \d{3} /g)?.length };
  }

  const HOST = 'Host: h\r\n';
  test.each([
    ['no Host', '', ''],
    ['two Hosts', `${HOST}Host: other\r\n`, ''],
    ['an unknown coding', `${HOST}Transfer-Encoding: xchunked\r\n`, ''],
    ['an unknown coding, and chunked', `${HOST}Transfer-Encoding: xchunked, chunked\r\n`, '0\r\n\r\n'],
    ['chunked and a length', `${HOST}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n`, '0\r\n\r\n'],
  ])('%s: 400', async (_, head, body) => {
    const answer = await askRaw(head, body);
    const framework = await throughFramework(keyring, () => askRaw(head, body));
    expect(answer).toEqual(framework);
    expect(answer).toMatchObject({ status: expect.stringContaining('HTTP/1.1 400 '), answers: 1 });
  });
});

describe('what was known of a question is not used any more', () => {
  const newKey = async (pins: Record<string, string> = {}) =>
    await keyring.create({ name: 'k', scopes: ['query'], pins, expiresMs: clock.now + 60_000 });

  /** A key whose question is known. */
  async function known(pins?: Record<string, string>) {
    const made = await newKey(pins);
    const headers = { 'x-api-key': made.key };
    await ask(headers);
    expect(await ask(headers)).toMatchObject({ status: 200, byFramework: false });
    return { ...made, headers };
  }

  test('once the key is revoked, or has expired', async () => {
    const [revoked, expired] = [await known(), await known()];
    await keyring.revoke(revoked.id);
    expect((await ask(revoked.headers)).status).toBe(401);
    clock.now += 60_000;
    expect((await ask(expired.headers)).status).toBe(401);
  });

  test('once the key is pinned to another project, held to another endpoint, or lacks the scope', async () => {
    const { id, headers } = await known({ project: 'p1' });
    for (const [change, status] of [
      [{ pins: { project: 'p2' } }, 403],
      [{ pins: { project: 'p1' } }, 200],
      [{ endpoints: ['logs.all'] }, 403],
      [{ endpoints: undefined, scopes: ['manage'], pins: {} }, 403],
    ] as const) {
      await keyring.update(id, change);
      expect((await ask(headers)).status).toBe(status);
    }
  });

  test('by another key: the same URL means what each is pinned to', async () => {
    const path = `${QUERY_PATH}/usage.api-counts?interval=minutely`;
    const rowsOf = async (key: string) => {
      const { body } = await ask({ 'x-api-key': key }, { path });
      return JSON.parse(body.toString()).result.length;
    };
    const [own, foreign] = [(await newKey({ project: 'p1' })).key, (await newKey({ project: 'p9' })).key];
    for (let i = 0; i < 3; i++) expect([await rowsOf(own), await rowsOf(foreign)]).toEqual([59, 0]);
  });

  test('once the definitions have changed', async () => {
    const path = `${QUERY_PATH}/changing?project=p1`;
    const answer = async () => (await ask({}, { path })).body.toString();
    for (let i = 0; i < 2; i++) expect(await answer()).toBe('{"result":[{"n":1}]}');
    const sql = 'SELECT toInt64(2) AS n FROM numbers(1) WHERE @project != @now\n';
    await writeFile(join(endpoints, 'changing', 'query.sql'), sql);
    await core.reload();
    for (let i = 0; i < 2; i++) expect(await answer()).toBe('{"result":[{"n":2}]}');
  });
});
