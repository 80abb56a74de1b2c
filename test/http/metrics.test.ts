import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { startAlertingService } from '../support/alerting.ts';
import { get, post, readMetric } from '../support/http.ts';

const service = await startAlertingService();
const { url } = service;

beforeAll(async () => {
  await appendFile(join(service.config.sourcesDir, 'logs.yaml'), 'drop: level:debug\n');
  await service.core.reload();
  await post(url, '/api/logs?source_name=logs', [{ project: 'p0', metadata: { level: 'debug' } }]);
  await service.call('usage.api-counts', { project: 'p0', interval: 'daily' });
  await service.call('logs.all');
  // One byte of Latin-1.
  const body = Buffer.from('[{"project":"p0"},{},"no event",{"project":"\xe9"}]', 'latin1');
  await post(url, '/api/logs?source_name=postgres.logs', body);
  const sent = async (receiver: string, outcome: string) =>
    await readMetric(url, 'tailrace_alert_messages_total', { receiver, outcome });
  await vi.waitFor(async () => expect(await sent('broken', 'failed')).toBeGreaterThan(0), 60_000);
  await vi.waitFor(async () => expect(await sent('ops', 'sent')).toBe(1), 60_000);
  // Rollups are looked at after the start.
  const readText = async () => (await get(url, '/metrics')).text;
  await vi.waitFor(async () => expect(await readText()).toContain('tailrace_rollup_rows_left{'), 60_000);
});

test('the metrics are those of docs/metrics.md, whose help names each label', async () => {
  const { text } = await get(url, '/metrics');
  const docs = await readFile('docs/metrics.md', 'utf8');
  const listed = [...docs.matchAll(/^- `(tailrace_\w+)`: /gm)].map(([, name]) => name);
  const exposed = [...text.matchAll(/^# HELP (tailrace_\w+) (.*)/gm)];
  expect(exposed.map(([, name]) => name).toSorted()).toEqual(listed.toSorted());
  const left = exposed.flatMap(([, name = '', help = '']) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text) ?? [];
    const missing = (labels.match(/\w+(?==")/g) ?? []).filter((label) => !help.includes(label));
    return missing.map((label) => `${name}: ${label}`);
  });
  expect(left).toEqual([]);
});
