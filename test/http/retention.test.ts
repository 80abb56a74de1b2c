import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import type { Overview } from '../../src/management/admin-view.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { get, idsOf, post, read, readMetric, TO_EDGE } from '../support/http.ts';
import { ownFolder, startTestService } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const WRONG = NOW + 100 * DAY_MS;
const folder = await ownFolder();
const definitions = await copyFewDefinitions(folder.path);

/** A service on the one data directory, whose clock the test moves. */
async function start(nowMs: number) {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), ...definitions };
  const started = await startTestService({ env, logger, now: nowMs });
  const { url, core } = started;
  return {
    ...started,
    logged: (level: number) =>
      lines.filter((line) => (JSON.parse(line) as { level: number }).level === level),
    ready: async () => (await get(url, '/ready')).body as unknown as Record<string, string>,
    stopped: () => readMetric(url, 'tailrace_retention_stopped', {}),
    notices: async () => (await read<Overview>(url, '/api/overview')).notices,
    stored: () => idsOf(core, 'p'),
    send: async (id: string, timestamp?: number) =>
      (await post(url, TO_EDGE, [{ id, project: 'p', timestamp }])).status,
  };
}

const IDS = Array.from({ length: 10 }, (_, daysAgo) => `${daysAgo}`);

// A store with an event of each of ten days, today the last.
beforeAll(async () => {
  const { send, close } = await start(NOW);
  for (const id of IDS) expect(await send(id, NOW - Number(id) * DAY_MS)).toBe(200);
  await close();
});

test('a clock that is 100 days ahead loses nothing, over restarts, and is reported wherever an operator looks', async () => {
  const reason = expect.stringMatching(/^retention has stopped: the clock says .* Set the clock right/);
  for (const round of [1, 2]) {
    const wrong = await start(WRONG);
    expect(await wrong.ready()).toEqual({ status: 'ready', retention: reason });
    expect(await wrong.notices()).toEqual([{ topic: 'retention', message: reason }]);
    expect(await wrong.stopped()).toBe(1);
    expect(wrong.logged(50)).toEqual([expect.stringMatching(/retention has stopped/)]);
    expect(await wrong.send(`young ${round}`, NOW)).toBe(200); // of a sender whose clock is right
    expect(await wrong.send(`wrong ${round}`)).toBe(200);
    await wrong.close();
  }
  const right = await start(NOW + 5_000);
  expect([await right.ready(), await right.stopped()]).toEqual([{ status: 'ready' }, 0]);
  expect(await right.stored()).toEqual([...IDS, 'wrong 1', 'wrong 2', 'young 1', 'young 2']);
  await right.close();
});

test('nor does one that jumps while the service runs, and once it is right, what is old is deleted', async () => {
  const service = await start(NOW);
  service.clock.now = WRONG;
  expect(await service.send('between two runs', NOW)).toBe(200);
  await service.service.retention.run();
  expect(await service.stopped()).toBe(1);
  service.clock.now = NOW + 5_000;
  const { TAILRACE_SOURCES_DIR: dir } = definitions;
  for (const name of await readdir(dir)) {
    const text = await readFile(join(dir, name), 'utf8');
    await writeFile(join(dir, name), text.replace(/retention_days: \d+/, 'retention_days: 2'));
  }
  await service.core.reload();
  await service.service.retention.run();
  expect(await service.stopped()).toBe(0);
  const left = await service.stored();
  expect(left).toEqual(expect.arrayContaining(['0', '1', '2', 'between two runs']));
  expect(left.some((id) => ['3', '4', '9'].includes(id))).toBe(false);
  expect(await readMetric(service.url, 'tailrace_days_dropped_total', { reason: 'age' })).toBe(7);
  await service.close();
});
