import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { methodsOf, pathsOf } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { until } from '../../trial/until.ts';
import { startAlertingService } from '../support/alerting.ts';
import { expectError, get, readMetric, request } from '../support/http.ts';
import { parseMetrics } from '../support/metrics.ts';
import { PRIVATE_KEY } from '../support/service.ts';

const service = await startAlertingService();
afterAll(service.close);
const { url } = service;
const { keyring } = service.service;

beforeAll(async () => {
  await appendFile(join(service.config.sourcesDir, 'logs.yaml'), 'drop: level:debug\n');
  await service.core.reload();
  const dropped = [{ project: 'p0', metadata: { level: 'debug' } }];
  await request(url, '/api/logs?source_name=logs', {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(dropped),
  });
  await service.call('usage.api-counts', { project: 'p0', interval: 'daily' });
  await service.call('logs.all');
  await fetch(`${url}/api/logs?source_name=postgres.logs`, {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    // One byte of Latin-1.
    body: Buffer.from('[{"project":"p0"},{},"no event",{"project":"\xe9"}]', 'latin1'),
  });
  const failed = { receiver: 'broken', outcome: 'failed' };
  await until(
    async () => expect(await readMetric(url, 'tailrace_alert_messages_total', failed)).toBeGreaterThan(0),
    60_000,
  );
  // Rollups are looked at after the start.
  await until(
    async () => expect((await get(url, '/metrics')).text).toContain('tailrace_rollup_rows_left{'),
    60_000,
  );
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
  test('reads the metrics, as manage does, and no other route', async () => {
    const { key } = await keyring.create({ name: 'prometheus', scopes: ['metrics'] });
    const { key: manager } = await keyring.create({ name: 'manager', scopes: ['manage'] });
    const { key: reader } = await keyring.create({ name: 'reader', scopes: ['query', 'ingest'] });
    const read = (by: string) => get(url, '/metrics', { 'x-api-key': '', authorization: `Bearer ${by}` });
    expect((await read(key)).text).toContain('tailrace_build_info');
    expect((await read(manager)).text).toContain('tailrace_build_info');
    expectError(await read(reader), 'forbidden');
    // What any key learns is about itself.
    const open = ['/api/self', '/api/backends', '/metrics'];
    const others = ROUTES.flatMap((route) =>
      typeof route.scopes === 'string'
        ? []
        : pathsOf(route).map((path) => ({ path, method: methodsOf(route)[0] ?? 'GET' })),
    ).filter(({ path }) => !open.includes(path));
    expect(others.length).toBeGreaterThan(30);
    for (const { method, path } of others) {
      const headers = { 'x-api-key': key };
      const { status } = await request(url, path.replaceAll(/:\w+|\*/g, 'x'), { method, headers });
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await get(url, '/openapi.json', { 'x-api-key': key })).text).not.toContain('logs.all');
  });
});
