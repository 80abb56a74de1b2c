import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Overview } from '../../src/management/view.ts';
import { createService } from '../../src/service/service.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { get, QUERY_PATH, readMetric } from '../support/http.ts';
import { idsOf, post, TO_EDGE } from '../support/ingest.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const folder = await temporaryFolder();
afterAll(folder.remove);
const [dataDir, filledDir] = [join(folder.path, 'data'), join(folder.path, 'filled')];
const definitions = await copyFewDefinitions(folder.path);
const sourcesDir = definitions.TAILRACE_SOURCES_DIR;

async function setRetention(days: number): Promise<void> {
  for (const name of await readdir(sourcesDir)) {
    const text = await readFile(join(sourcesDir, name), 'utf8');
    await writeFile(join(sourcesDir, name), text.replace(/retention_days: \d+/, `retention_days: ${days}`));
  }
}

/** A service on the one data directory, whose clock the test moves. */
async function start(nowMs: number) {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const clock = { now: nowMs };
  const config = testConfig(dataDir, definitions);
  const service = await createService(config, { logger, owner: 'a test', now: () => clock.now });
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...service,
    ...{ url, clock },
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    ready: async () => (await get(url, '/ready')).body as unknown as Record<string, string>,
    stopped: (reason: string) => readMetric(url, 'tailrace_retention_stopped', { reason }),
    notices: async () => (JSON.parse((await get(url, '/api/overview')).text) as Overview).notices,
    stored: () => idsOf(service.core, 'p'),
    /** What callers see, through the reading filters. */
    async seen() {
      const sql = 'SELECT id FROM edge_logs ORDER BY id';
      const { bytes } = await service.core.engine.query(sql, {}, { format: 'TSVRaw' });
      return bytes.toString().split('\n').slice(0, -1);
    },
  };
}

const IDS = Array.from({ length: 10 }, (_, daysAgo) => `${daysAgo}`);

// A store with an event of each of ten days, today the last.
beforeAll(async () => {
  const { url, close } = await start(NOW);
  const metadata = { request: { path: '/rest/v1' } };
  const events = IDS.map((id) => ({ id, project: 'p', timestamp: NOW - Number(id) * DAY_MS, metadata }));
  expect((await post(url, TO_EDGE, events)).status).toBe(200);
  await close();
  await cp(dataDir, filledDir, { recursive: true });
});

/** A service on the filled store. @param without a file that has been lost */
async function startFilled(nowMs: number, without = 'none') {
  await rm(dataDir, { recursive: true, force: true });
  await cp(filledDir, dataDir, { recursive: true });
  await rm(join(dataDir, without), { force: true });
  await copyFewDefinitions(folder.path);
  return await startUntilFinished(nowMs);
}

async function startUntilFinished(nowMs: number) {
  const service = await start(nowMs);
  onTestFinished(service.close);
  return service;
}

test('what is older than its source keeps is not returned; a longer retention, read again, shows what is still there', async () => {
  const service = await startFilled(NOW);
  await setRetention(2);
  await service.core.reload();
  expect(await service.seen()).toEqual(['0', '1']);
  const { body } = await get(service.url, `${QUERY_PATH}/usage.api-counts?project=p&interval=daily`);
  expect(body.result.reduce((sum, row) => sum + Number(row['total_rest_requests']), 0)).toBe(2);
  await setRetention(30);
  await service.core.reload();
  expect(await service.seen()).toEqual(IDS);
});

describe('a clock that is a hundred days ahead', () => {
  test('deletes nothing at start, hides and rejects nothing, and is reported wherever an operator looks', async () => {
    const after = await startFilled(NOW + 100 * DAY_MS);
    const message = /^retention has stopped: the clock says .* which is 100 days ahead .*--confirm/;
    expect(await after.ready()).toEqual({ status: 'ready', retention: expect.stringMatching(message) });
    expect(await after.notices()).toEqual([{ topic: 'retention', message: expect.stringMatching(message) }]);
    expect([await after.stopped('clock'), await after.stopped('share')]).toEqual([1, 0]);
    const errors = after.log().filter(({ level }) => level === 50);
    expect(errors).toMatchObject([{ msg: expect.stringMatching(/retention has stopped/) }]);
    expect([await after.stored(), await after.seen()]).toEqual([IDS, IDS]);
    const young = { id: 'young', project: 'p', timestamp: NOW };
    expect((await post(after.url, TO_EDGE, [young])).status).toBe(200);
    expect(await after.seen()).toContain('young');
  });

  test('is noticed by the newest event if the time at which the store was open is not known', async () => {
    const after = await startFilled(NOW + 100 * DAY_MS, 'clock.json');
    expect(await after.stopped('clock')).toBe(1);
    // Its own events, of the wrong time, do not make it right, not even for the next start.
    await post(after.url, TO_EDGE, [{ id: 'late', project: 'p' }]);
    await after.close();
    const again = await startUntilFinished(NOW + 100 * DAY_MS);
    expect(await again.stopped('clock')).toBe(1);
    expect(await again.stored()).toEqual([...IDS, 'late']);
  });

  test('while the service runs: retention stops, and goes on when the clock is right', async () => {
    const service = await startFilled(NOW);
    service.clock.now = NOW + 100 * DAY_MS;
    await service.retention.run();
    expect([await service.stopped('clock'), await service.seen()]).toEqual([1, IDS]);
    service.clock.now = NOW + 5_000;
    await service.retention.watch();
    expect([await service.stopped('clock'), await service.stored()]).toEqual([0, IDS]);
    expect(await service.ready()).toEqual({ status: 'ready' });
  });
});

test('a clock that went back deletes nothing, and is reported', async () => {
  const after = await startFilled(NOW - 100 * DAY_MS);
  const clock = expect.stringMatching(/^the clock says .* which is 100 days behind /);
  expect(await after.ready()).toEqual({ status: 'ready', clock });
  expect(await after.stored()).toEqual(IDS);
});
