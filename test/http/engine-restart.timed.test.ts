import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getEngineProcess, untilGone } from '../support/engine-process.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const lines: string[] = [];
const log = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
const service = await startTestService({
  env: { TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '300' },
  logger: pino({}, log),
});
afterAll(service.close);

const CACHED = `${QUERY_PATH}/usage.api-counts?project=p&interval=hourly`;
const NEW = `${QUERY_PATH}/logs.all?project=p`;
const statusOf = async (path: string) => (await get(service.url, path)).status;

beforeAll(async () => {
  const now = service.clock.now;
  const event = { project: 'p', timestamp: now * 1000, metadata: { request: { path: '/rest/v1/x' } } };
  await storeEvents(service.core, 'cloudflare.logs.prod', [event], now);
  expect(await statusOf(CACHED)).toBe(200);
});

async function send(): Promise<number> {
  const response = await fetch(`${service.url}/api/logs?source_name=cloudflare.logs.prod`, {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ batch: [{ message: 'm', project: 'p' }] }),
  });
  return response.status;
}

test('a killed engine is back for the next caller, with every event', async () => {
  const pid = getEngineProcess();
  process.kill(pid, 'SIGKILL');
  await untilGone(pid);
  await expect.poll(() => statusOf('/ready'), { timeout: 30_000 }).toBe(200);
  expect((await service.call('logs.all', { project: 'p' })).body.result).toHaveLength(1);
  expect(await send()).toBe(200);
  const metrics = await fetch(`${service.url}/metrics`, { headers: { 'x-api-key': PRIVATE_KEY } });
  expect(await metrics.text()).toContain('tailrace_engine_restarts_total 1\n');
  expect(lines.join('')).toContain('the engine process ended and is started again');
});

test('while it cannot be started, cached answers are served, the rest says when to come back, and all is well afterwards', async () => {
  const store = join(service.config.dataDir, 'store');
  const pid = getEngineProcess();
  await rename(store, `${store}-moved`);
  await writeFile(store, 'not a folder');
  process.kill(pid, 'SIGKILL');
  await untilGone(pid);

  expect(await statusOf(CACHED)).toBe(200);
  const refused = await get(service.url, NEW);
  expect(refused.status).toBe(503);
  expect(refused.body.error.code).toBe('engine_unavailable');
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect(await send()).toBe(503);
  expect(await statusOf('/ready')).toBe(503);
  expect(await statusOf('/health')).toBe(200);

  await expect.poll(() => statusOf('/health'), { timeout: 40_000, interval: 200 }).toBe(503);
  expect(await statusOf(CACHED)).toBe(200);
  expect(lines.join('')).toContain('the engine process could not be started; trying again');

  await rm(store);
  await rename(`${store}-moved`, store);
  await expect.poll(() => statusOf('/ready'), { timeout: 40_000, interval: 200 }).toBe(200);
  expect(await statusOf('/health')).toBe(200);
  expect((await service.call('logs.all', { project: 'p' })).body.result).toHaveLength(2);
}, 100_000);
