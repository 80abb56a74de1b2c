import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Overview } from '../../src/management/admin-view.ts';
import { EDGE, post, read, readMetric, TO_EDGE } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const lines: { readonly level: number; readonly events?: unknown; readonly msg: string }[] = [];
const service = await ownService({
  logger: pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }),
});
const { url, clock } = service;

const AUTH = 'gotrue.logs.prod';
const counted = (source: string) => readMetric(url, 'tailrace_events_without_project_total', { source });
const shown = async (name: string) =>
  (await read<Overview>(url, '/api/overview')).sources.find((one) => one.name === name)?.without_project;
const warnings = () => lines.splice(0).map(({ events }) => events);

test('events without a project are stored, counted, shown, and logged once a minute with their source and count', async () => {
  const event = { event_message: 'whose?' };
  const stored = await post(url, TO_EDGE, [event, event, { ...event, project: 'p1' }]);
  expect(stored.text).toBe('{"message":"Logged!"}');
  expect(stored.headers.get('x-events-without-project')).toBe('2');
  expect(warnings()).toEqual([{ [EDGE]: 2 }]);
  clock.now += 59_000;
  await post(url, TO_EDGE, [event]);
  await post(url, `/api/logs?source_name=${AUTH}`, [event]);
  expect(warnings()).toEqual([]);
  clock.now += 1_000;
  const otlp = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'whose?' } }] }] }] };
  expect((await post(url, '/v1/logs', otlp, { 'x-source': AUTH })).status).toBe(200);
  expect(warnings()).toEqual([{ [EDGE]: 1, [AUTH]: 2 }]);
  expect([await counted(EDGE), await counted(AUTH)]).toEqual([3, 2]);
  expect([await shown(EDGE), await shown(AUTH), await shown('postgres.logs')]).toEqual([3, 2, 0]);
});

test('every configuration in deploy/senders/ names a project', async () => {
  const files = await readdir('deploy/senders');
  const texts = await Promise.all(files.map((file) => readFile(join('deploy/senders', file), 'utf8')));
  const names = /(?:project|tenant_id)["']?(?::|=| =>| value=)? ?["']?(?:aurora|\$tailrace_project)/i;
  expect(files.filter((_, i) => !names.test(texts[i] ?? ''))).toEqual([]);
});
