import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Overview } from '../../src/management/view.ts';
import { confirmAll, confirmationFile, reportFile } from '../../src/retention/file.ts';
import { createService } from '../../src/service/service.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { get, readMetric } from '../support/http.ts';
import { idsOf, post, TO_EDGE } from '../support/ingest.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const folder = await temporaryFolder();
afterAll(folder.remove);
const dataDir = join(folder.path, 'data');
const definitions = await copyFewDefinitions(folder.path); // each test opens the store several times
const sourcesDir = definitions.TAILRACE_SOURCES_DIR;

beforeEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
  await copyFewDefinitions(folder.path);
});

async function setRetention(days: number): Promise<void> {
  for (const name of await readdir(sourcesDir)) {
    const text = await readFile(join(sourcesDir, name), 'utf8');
    await writeFile(join(sourcesDir, name), text.replace(/retention_days: \d+/, `retention_days: ${days}`));
  }
}

/** A service on the one data directory, whose clock the test moves. */
async function start(nowMs: number) {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const clock = { now: nowMs };
  const config = testConfig(dataDir, definitions);
  const service = await createService(config, { logger, owner: 'a test', now: () => clock.now });
  onTestFinished(service.close);
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const ready = async () => (await get(url, '/ready')).body as unknown as Record<string, string>;
  const stopped = (reason: string) => readMetric(url, 'tailrace_retention_stopped', { reason });
  const notices = async () => (JSON.parse((await get(url, '/api/overview')).text) as Overview).notices;
  /** What callers see, through the reading filters. */
  const seen = async () => {
    const sql = 'SELECT id FROM edge_logs ORDER BY id';
    const { bytes } = await service.core.engine.query(sql, {}, { format: 'TSVRaw' });
    return bytes.toString().split('\n').slice(0, -1);
  };
  const errors = () => lines.filter((line) => line.includes('"level":50'));
  return { ...service, url, clock, ready, stopped, notices, seen, errors };
}

const event = (id: string, atMs: number) => ({ id, project: 'p', timestamp: atMs });

/** Ten days with an event each, today the last. */
async function fill(url: string): Promise<string[]> {
  const ids = Array.from({ length: 10 }, (_, daysAgo) => `${daysAgo}`);
  const events = ids.map((id) => event(id, NOW - Number(id) * DAY_MS));
  expect((await post(url, TO_EDGE, events)).status).toBe(200);
  return ids;
}

describe('a clock that is a hundred days ahead', () => {
  test('deletes nothing at start, hides nothing, and says so wherever an operator looks', async () => {
    const before = await start(NOW);
    const ids = await fill(before.url);
    await before.close();

    const after = await start(NOW + 100 * DAY_MS);
    const message = /^retention has stopped: the clock says .* which is 100 days ahead .*--confirm/;
    expect(await after.ready()).toEqual({ status: 'ready', retention: expect.stringMatching(message) });
    expect(await after.notices()).toEqual([{ topic: 'retention', message: expect.stringMatching(message) }]);
    expect([await after.stopped('clock'), await after.stopped('share')]).toEqual([1, 0]);
    expect(after.errors()).toHaveLength(1);
    expect(after.errors()[0]).toMatch(/retention has stopped/);
    expect(await idsOf(after.core, 'p')).toEqual(ids);
    expect(await after.seen()).toEqual(ids);
  });

  test('is stopped by the newest event where nobody has noted when the store was open', async () => {
    const before = await start(NOW);
    const ids = await fill(before.url);
    await before.close();
    await rm(join(dataDir, 'clock.json'));
    const after = await start(NOW + 100 * DAY_MS);
    expect(await after.stopped('clock')).toBe(1);
    expect(await idsOf(after.core, 'p')).toEqual(ids);
    // Its own events, of the wrong time, do not make it right, not even for the next start.
    await post(after.url, TO_EDGE, [{ id: 'late', project: 'p' }]);
    await after.close();
    const again = await start(NOW + 100 * DAY_MS);
    expect(await again.stopped('clock')).toBe(1);
    expect(await idsOf(again.core, 'p')).toEqual([...ids, 'late']);
  });

  test('refuses no event for its age that is young by the right time', async () => {
    await (await start(NOW)).close();
    const after = await start(NOW + 100 * DAY_MS);
    expect((await post(after.url, TO_EDGE, [event('1', NOW)])).status).toBe(200);
    expect(await after.seen()).toEqual(['1']);
  });

  test('jumps while the service runs: it stops at the next look, and goes on when the clock is right', async () => {
    const service = await start(NOW);
    const ids = await fill(service.url);
    service.clock.now = NOW + 100 * DAY_MS;
    await service.retention.run();
    expect(await service.stopped('clock')).toBe(1);
    expect(await service.seen()).toEqual(ids);
    service.clock.now = NOW + 5_000;
    await service.retention.watch();
    expect(await service.ready()).toEqual({ status: 'ready' });
    expect(await service.stopped('clock')).toBe(0);
    expect(await idsOf(service.core, 'p')).toEqual(ids);
  });
});

describe('a confirmation', () => {
  test('lets retention go on, beside the running service, for what was seen', async () => {
    const before = await start(NOW);
    await fill(before.url);
    await before.close();
    const after = await start(NOW + 85 * DAY_MS);
    const report = reportFile(dataDir).read();
    if (report === undefined) throw new Error('no report');
    expect(report.due).toMatchObject([{ source: 'cloudflare.logs.prod', held: 'clock' }]);
    confirmationFile(dataDir).write(confirmAll(report));
    await after.retention.watch();
    expect(confirmationFile(dataDir).read()).toBeUndefined();
    expect(await after.ready()).toEqual({ status: 'ready' });
    expect(await idsOf(after.core, 'p')).toEqual(['0', '1', '2', '3', '4', '5']);
    // The next jump is another one.
    after.clock.now += 100 * DAY_MS;
    await after.retention.run();
    expect(await after.stopped('clock')).toBe(1);
    expect(await idsOf(after.core, 'p')).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  test('of another jump is not taken', async () => {
    const before = await start(NOW);
    const ids = await fill(before.url);
    await before.close();
    const after = await start(NOW + 100 * DAY_MS);
    confirmationFile(dataDir).write({ clockOffsetMs: 95 * DAY_MS, days: [] });
    await after.retention.watch();
    expect(await after.stopped('clock')).toBe(1);
    expect(await idsOf(after.core, 'p')).toEqual(ids);
  });
});

test('a retention that is lowered waits for a confirmation, then deletes', async () => {
  const before = await start(NOW);
  const ids = await fill(before.url);
  await before.close();
  await setRetention(3);
  const after = await start(NOW);
  expect(await after.ready()).toEqual({
    status: 'ready',
    retention: expect.stringMatching(
      /^retention has stopped for a source: [4-6]0 % of its events \(\d days\)/,
    ),
  });
  expect([await after.stopped('clock'), await after.stopped('share')]).toEqual([0, 1]);
  expect(await idsOf(after.core, 'p')).toEqual(ids);
  const report = reportFile(dataDir).read();
  if (report === undefined) throw new Error('no report');
  confirmationFile(dataDir).write(confirmAll(report));
  await after.retention.watch();
  expect(await after.stopped('share')).toBe(0);
  expect((await idsOf(after.core, 'p')).length).toBeLessThan(6);
});

test('a retention that is lowered by a reload, which hides events at once, is said at the next look', async () => {
  const service = await start(NOW);
  const ids = await fill(service.url);
  await setRetention(3);
  await service.core.reload();
  await service.retention.watch();
  expect(await service.ready()).toEqual({
    status: 'ready',
    retention: expect.stringMatching(/^retention has stopped for a source: /),
  });
  expect(await idsOf(service.core, 'p')).toEqual(ids);
});

test('a clock that went back deletes nothing, and is said', async () => {
  const before = await start(NOW);
  const ids = await fill(before.url);
  await before.close();
  const after = await start(NOW - 100 * DAY_MS);
  expect(await after.ready()).toEqual({
    status: 'ready',
    clock: expect.stringMatching(/^the clock says .* which is 100 days behind /),
  });
  expect(await after.stopped('clock')).toBe(0);
  expect(await idsOf(after.core, 'p')).toEqual(ids);
});

test('an empty store, a first start, and hours without a service stop nothing', async () => {
  const first = await start(NOW - 20 * DAY_MS);
  expect(await first.ready()).toEqual({ status: 'ready' });
  await first.close();
  const second = await start(NOW - 20 * DAY_MS + 23 * 3_600_000);
  expect(await second.ready()).toEqual({ status: 'ready' });
});

test('a service stops as it should when the time of its stop cannot be written down, as on a full disk', async () => {
  const service = await start(NOW);
  await rm(join(dataDir, 'clock.json'), { force: true });
  await mkdir(join(dataDir, 'clock.json'));
  await service.close();
  expect(service.errors().filter((line) => line.includes('clock.json'))).toHaveLength(1);
});
