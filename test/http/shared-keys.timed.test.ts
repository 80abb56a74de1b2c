import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../trial/postgres.ts';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { idsOf, post, TO_EDGE } from '../support/ingest.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const PATH = `${QUERY_PATH}/usage.api-counts?project=shared&interval=daily`;

let postgres: TestPostgres;
let front: Awaited<ReturnType<typeof startClickHouseFront>>;
const folder = await temporaryFolder();
afterAll(folder.remove);
let here: Awaited<ReturnType<typeof startTestService>>;
let there: typeof here;
const logged: string[] = [];

const ask = (service: typeof here, key: string, path = PATH) => get(service.url, path, { 'x-api-key': key });

async function call(service: typeof here, method: string, path: string, body?: object) {
  const answer = await request(service.url, path, {
    method,
    headers: { 'x-api-key': PRIVATE_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { ...answer, view: answer.body as unknown as { id: string; key: string; token: string } };
}
const create = async (service: typeof here) =>
  (await call(service, 'POST', '/api/keys', { name: 'a', scopes: ['query'] })).view;

/** What is done on one replica acts on the other within two seconds. */
const soon = <T>(work: () => Promise<T>) => vi.waitFor(work, { timeout: 2_000, interval: 20 });
const untilUp = (isUp: number) =>
  vi.waitFor(
    async () => {
      const { text } = await get(here.url, '/metrics');
      expect(text).toContain(`tailrace_control_store_up ${isUp}\n`);
    },
    { timeout: 10_000, interval: 50 },
  );

describe.skipIf(!hasPostgres)('two replicas with one control store', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    front = await startClickHouseFront(join(folder.path, 'clickhouse'));
    const env = {
      CLICKHOUSE_URL: front.url,
      TAILRACE_CONTROL_URL: await postgres.createDatabase(),
      TAILRACE_TOKEN_SECRET: 'of-all-replicas-0123456789abcdefghij',
    };
    const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
    here = await startTestService({ env, logger });
    there = await startTestService({ env });
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await front?.close();
    await postgres?.close();
  });

  test('take each other’s keys at once, and their changes within two seconds', async () => {
    const { id, key } = await create(here);
    for (const service of [there, there, here, here]) expect((await ask(service, key)).status).toBe(200);
    expect((await call(there, 'PATCH', `/api/keys/${id}`, { pins: { project: 'other' } })).status).toBe(200);
    expectError(await ask(there, key), 'forbidden');
    await soon(async () => expectError(await ask(here, key), 'forbidden'));
    await call(here, 'DELETE', `/api/keys/${id}`);
    expectError(await ask(here, key), 'unauthorized');
    await soon(async () => expectError(await ask(there, key), 'unauthorized'));
    const trail = await call(there, 'GET', '/api/keys/log?limit=3');
    expect(trail.body.result.map((entry) => entry['action'])).toEqual(['revoked', 'changed', 'created']);
  });

  test('take each other’s tokens, until the key is revoked', async () => {
    const { id, key } = await create(here);
    const made = await request(here.url, '/api/tokens', {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{}',
    });
    const { token } = made.body as unknown as { token: string };
    expect((await ask(there, token)).status).toBe(200);
    await call(here, 'DELETE', `/api/keys/${id}`);
    await soon(async () => expectError(await ask(there, token), 'unauthorized'));
  });

  test('give one answer to an Idempotency-Key, and refuse it with another body', async () => {
    const send = (service: typeof here, body: object) =>
      post(service.url, TO_EDGE, body, { 'idempotency-key': 'once' });
    const body = [{ id: '1', project: 'once' }, 5];
    const first = await send(here, body);
    const second = await send(there, body);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expectError(await send(there, [{ id: '2', project: 'once' }]), 'invalid_request');
    expect(await idsOf(there.core, 'once')).toEqual(['1']);
  });

  test('without PostgreSQL serve the keys that they have seen, and are well again when it is back', async () => {
    const seen = await create(here);
    const unseen = await create(there);
    const { id: asked, key } = await create(there);
    expect((await ask(here, key)).status).toBe(200);
    // `here` forgets a key when it notices a change of it: wait until it has noticed all.
    await call(there, 'PATCH', `/api/keys/${asked}`, { pins: { project: 'other' } });
    await soon(async () => expectError(await ask(here, key), 'forbidden'));
    for (let i = 0; i < 2; i++) expect((await ask(here, seen.key)).status).toBe(200);
    await untilUp(1);
    await postgres.run(here.config.controlUrl, 'CHECKPOINT'); // its files are not synced in the tests
    logged.length = 0;
    await postgres.kill();
    await untilUp(0);
    expect((await ask(here, seen.key)).headers.get('cache-status')).toContain('hit');
    expect((await ask(here, PRIVATE_KEY)).status).toBe(200);
    expect((await get(here.url, '/ready', {})).status).toBe(200);
    // Events are taken all the same, and the server knows a repeat by its token.
    for (const service of [here, there]) {
      const sent = await post(service.url, TO_EDGE, [{ id: '1', project: 'away' }], {
        'idempotency-key': 'a',
      });
      expect(sent.status).toBe(200);
    }
    expect(await idsOf(here.core, 'away')).toEqual(['1']);
    for (const answer of [
      await ask(here, unseen.key),
      await call(here, 'GET', '/api/keys'),
      await call(here, 'GET', `/api/keys/${asked}`),
      await call(here, 'DELETE', `/api/keys/${asked}`),
      await call(here, 'POST', '/api/keys', { name: 'b', scopes: ['query'] }),
    ]) {
      expectError(answer, 'engine_unavailable');
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.body.error.message).toContain('the control store does not respond');
    }
    await postgres.start();
    await soon(async () => expect((await ask(here, unseen.key)).status).toBe(200));
    await untilUp(1);
    const about = logged.filter((line) => /"msg":"the control store is/.test(line));
    expect(about.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'the control store is unavailable: keys cannot be read or changed',
      'the control store is available again',
    ]);
  });
});
