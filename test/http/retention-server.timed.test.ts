import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { confirmAll, confirmationFile, reportFile } from '../../src/retention/file.ts';
import { createService } from '../../src/service/service.ts';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { get, readMetric } from '../support/http.ts';
import { idsOf, post, TO_EDGE } from '../support/ingest.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
afterAll(async () => {
  await front.close();
  await folder.remove();
});
afterEach(() => {
  front.intercept = undefined;
});

async function start(dataDir: string, nowMs: number) {
  const config = testConfig(join(folder.path, dataDir), { CLICKHOUSE_URL: front.url });
  const logger = pino({ level: 'silent' });
  const service = await createService(config, { logger, owner: 'a test', now: () => nowMs });
  onTestFinished(service.close);
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const stopped = () => readMetric(url, 'tailrace_retention_stopped', { reason: 'clock' });
  return { ...service, url, stopped };
}

test('days on a server are deleted by the service, which holds its clock against the past as well', async () => {
  const first = await start('one', NOW);
  const events = [0, 8, 9].map((daysAgo) => ({
    id: `${daysAgo}`,
    project: 'p',
    timestamp: NOW - daysAgo * DAY_MS,
  }));
  expect((await post(first.url, TO_EDGE, events)).status).toBe(200);
  await first.close();

  const second = await start('one', NOW + 86 * DAY_MS);
  expect(await second.stopped()).toBe(1);
  expect(await idsOf(second.core, 'p')).toEqual(['0', '8', '9']);
  // Another replica, whose data directory is new, goes by the newest event.
  const replica = await start('two', NOW + 86 * DAY_MS);
  expect(await replica.stopped()).toBe(1);

  const report = reportFile(join(folder.path, 'one')).read();
  if (report === undefined) throw new Error('no report');
  confirmationFile(join(folder.path, 'one')).write(confirmAll(report));
  await second.retention.watch();
  expect(await second.stopped()).toBe(0);
  expect(await idsOf(second.core, 'p')).toEqual(['0']);
});

test('a server whose clock is ahead stops it, and hides nothing', async () => {
  const service = await start('three', NOW);
  await post(service.url, TO_EDGE, [{ id: 'young', project: 'q', timestamp: NOW - 1_000 }]);
  front.intercept = ({ sql }, response) => {
    if (!sql.includes('toUnixTimestamp64Milli(now64(3)) AS ms')) return false;
    response.writeHead(200, { 'x-clickhouse-format': 'JSONEachRow', 'x-clickhouse-summary': '{}' });
    response.end(`{"ms":${NOW + 100 * DAY_MS}}\n`);
    return true;
  };
  await service.retention.watch();
  expect(await service.stopped()).toBe(1);
  expect((await get(service.url, '/ready')).body).toHaveProperty(
    'retention',
    expect.stringMatching(/the clock of the ClickHouse server says .* 100 days ahead of this machine's/),
  );
  front.requests.length = 0;
  await service.core.engine.query('SELECT count() FROM edge_logs', {}, { format: 'TSVRaw' });
  const filters = front.requests.map(({ settings }) => settings.get('additional_table_filters') ?? '').join();
  expect(filters).toMatch(/edge_logs.*fromUnixTimestamp64Milli\(\d+/);
  expect(filters).not.toContain('now64');
  front.intercept = undefined;
  await service.retention.watch();
  expect(await service.stopped()).toBe(0);
});
