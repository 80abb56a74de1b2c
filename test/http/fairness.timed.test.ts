import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { get, QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
await addEndpoint(endpoints.path, {
  ...{ name: 'slow.plain', id: 'a0000000-0000-4000-8000-000000000003', caching: 'disabled' },
  // It sleeps instead of computing, so that the machine has time for the others: this is about the queue.
  sql: "SELECT toInt64(sum(sleepEachRow(0.2))) AS n FROM numbers(1) WHERE @project != ''",
});
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '2',
    TAILRACE_QUERY_QUEUE_PER_KEY_MAX: '8',
    TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX: '4',
    TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '1500',
  },
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url } = service;
const { gauges } = service.core.engine;
const newKey = async (name: string) =>
  (await service.service.keyring.create({ name, scopes: ['query'] })).key;
const ask = (key: string, path: string) => get(url, `${QUERY_PATH}/${path}`, { 'x-api-key': key });
const untilEngine = (running: number, queued: number) =>
  vi.waitFor(() => expect(gauges()).toMatchObject({ running, queued }), { timeout: 30_000 });

/** Does `work` while many connections ask for slow answers without pause. @returns the statuses of these */
async function flood(key: string, connections: number, work: () => Promise<void>) {
  const statuses = new Set<number>();
  let stopped = false;
  let asked = 0;
  const connection = async () => {
    while (!stopped) {
      statuses.add((await ask(key, `slow.plain?project=p${asked++}`)).status);
      await pause(20); // so that the test's own loop has time for the others
    }
  };
  const ended = Promise.all(Array.from({ length: connections }, connection));
  try {
    await work();
  } finally {
    stopped = true;
    await ended;
  }
  return statuses;
}

async function expectServed(key: string): Promise<void> {
  for (let i = 0; i < 20; i++) expect((await ask(key, `logs.all?project=p${i}`)).status).toBe(200);
}

test('a key that floods the service with slow queries is rejected, while every request of another is answered', async () => {
  const [flooder, other] = [await newKey('flooder'), await newKey('other')];
  const statuses = await flood(flooder, 20, async () => {
    await untilEngine(1, 8);
    await expectServed(other);
  });
  expect(statuses).toEqual(new Set([200, 503]));
  await untilEngine(0, 0);
  expect((await ask(flooder, 'slow.plain?project=after')).status).toBe(200);
});

test('a token that floods its key is rejected, while another token of the key is answered', async () => {
  const headers = { 'x-api-key': await newKey('front end') };
  const createToken = async () => {
    const answer = await request(url, '/api/tokens', { method: 'POST', headers });
    return String((JSON.parse(answer.text) as { token: unknown }).token);
  };
  const [flooder, other] = [await createToken(), await createToken()];
  const statuses = await flood(flooder, 10, async () => {
    await untilEngine(1, 4);
    await expectServed(other);
  });
  expect(statuses).toContain(503);
  await untilEngine(0, 0);
});
