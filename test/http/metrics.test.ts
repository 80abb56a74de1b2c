import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startAlertingService } from '../support/alerting.ts';
import { expectError, get, readMetric } from '../support/http.ts';
import { post } from '../support/ingest.ts';
import { parseMetrics } from '../support/metrics.ts';

const service = await startAlertingService();
afterAll(service.close);
const { url } = service;
const { keyring } = service.service;

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

const readSamples = async () => parseMetrics((await get(url, '/metrics')).text);

describe('the metrics', () => {
  test('have the names and labels that docs/operating.md lists', async () => {
    const { text } = await get(url, '/metrics');
    const docs = await readFile('docs/operating.md', 'utf8');
    const items = docs.matchAll(/^- ((?:`tailrace_\w+`(?:, )?)+)(?: \(((?:`\w+`(?:, )?)+)\))?: /gm);
    const listed = [...items].flatMap(([, names = '', labels = '']) =>
      (names.match(/\w+/g) ?? []).map((name) => [name, labels.match(/\w+/g) ?? []] as const),
    );
    const exposed = [...text.matchAll(/^# HELP (tailrace_\w+)/gm)].map(([, name = '']) => {
      const [, labels = ''] = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text) ?? [];
      return [name, labels.match(/\w+(?==")/g) ?? []] as const;
    });
    // Refreshes, of buckets too, and dropped days come with time, which this test does not wait for.
    const later = ['cache_refreshes', 'cache_recomputed', 'days_dropped'].map(
      (name) => `tailrace_${name}_total`,
    );
    expect(Object.fromEntries(exposed)).toEqual({
      ...Object.fromEntries(listed),
      ...Object.fromEntries(later.map((name) => [name, []])),
    });
  });

  test('of alerts are evaluations, what fires, and what became of its messages', async () => {
    const samples = (await readSamples()).filter(({ name }) => name.startsWith('tailrace_alert'));
    const find = (name: string, labels: object) =>
      samples.find((one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels))
        ?.value;
    const alert = { alert: 'failing.paths', endpoint: 'failing.paths' };
    expect(find('tailrace_alerts_evaluating', {})).toBe(1);
    expect(find('tailrace_alerts_firing', alert)).toBe(1);
    expect(find('tailrace_alert_evaluations_total', { ...alert, result: 'done' })).toBeGreaterThan(0);
    expect(find('tailrace_alert_messages_total', { receiver: 'ops', outcome: 'sent' })).toBe(1);
    expect(find('tailrace_alert_messages_total', { receiver: 'ops', outcome: 'failed' })).toBe(0);
    expect(find('tailrace_alert_receiver_failing', { receiver: 'ops' })).toBe(0);
    expect(find('tailrace_alert_receiver_failing', { receiver: 'broken' })).toBe(1);
    expect(find('tailrace_alert_outbox_messages', { receiver: 'ops' })).toBe(0);
    expect(find('tailrace_alert_outbox_messages', { receiver: 'broken' })).toBe(1);
    service.clock.now += 60_000;
    const older = await readMetric(url, 'tailrace_alert_outbox_oldest_seconds', { receiver: 'broken' });
    expect(older).toBeGreaterThanOrEqual(60);
  });
});

describe('the scope metrics', () => {
  test('reads the metrics, as manage does', async () => {
    const { key } = await keyring.create({ name: 'prometheus', scopes: ['metrics'] });
    const { key: manager } = await keyring.create({ name: 'manager', scopes: ['manage'] });
    const { key: reader } = await keyring.create({ name: 'reader', scopes: ['query', 'ingest'] });
    const read = (by: string) => get(url, '/metrics', { 'x-api-key': '', authorization: `Bearer ${by}` });
    expect((await read(key)).text).toContain('tailrace_build_info');
    expect((await read(manager)).text).toContain('tailrace_build_info');
    expectError(await read(reader), 'forbidden');
    expect((await get(url, '/openapi.json', { 'x-api-key': key })).text).not.toContain('logs.all');
  });
});
