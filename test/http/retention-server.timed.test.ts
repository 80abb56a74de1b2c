import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { createService } from '../../src/service/service.ts';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { get, readMetric } from '../support/http.ts';
import { post, TO_EDGE } from '../support/ingest.ts';
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
