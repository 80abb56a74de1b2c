import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { getEngineProcess, untilGone } from '../support/engine-process.ts';
import { EDGE, expectError, get, post, QUERY_PATH, TO_EDGE } from '../support/http.ts';
import { ownService, storeEvents } from '../support/service.ts';

const lines: string[] = [];
const service = await ownService({
  bounds: { queueTimeoutMs: 300 },
  logger: pino({}, { write: (line) => void lines.push(line) }),
});

const CACHED = `${QUERY_PATH}/usage.api-counts?project=p&interval=hourly`;
const NEW = `${QUERY_PATH}/logs.all?project=p`;
const statusOf = async (path: string) => (await get(service.url, path)).status;

beforeAll(async () => {
  const now = service.clock.now;
  const event = { project: 'p', timestamp: now * 1000, metadata: { request: { path: '/rest/v1/x' } } };
  await storeEvents(service.core, EDGE, [event], now);
  expect(await statusOf(CACHED)).toBe(200);
});

const send = async () => (await post(service.url, TO_EDGE, [{ project: 'p' }])).status;

test('while it cannot be started, cached answers are served, the rest says when to come back, and all is well afterwards', async () => {
  const store = join(service.config.dataDir, 'store');
  const pid = getEngineProcess();
  await rename(store, `${store}-moved`);
  await writeFile(store, 'not a folder');
  process.kill(pid, 'SIGKILL');
  await untilGone(pid);

  expect(await statusOf(CACHED)).toBe(200);
  expectError(await get(service.url, NEW), 'engine_unavailable');
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
  expect(await send()).toBe(200);
  expect((await service.call('logs.all', { project: 'p' })).body.result).toHaveLength(2);
}, 100_000);
