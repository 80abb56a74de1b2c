import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyEndpoints } from '../support/endpoints.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { ask } from './support.ts';

const NAMES = ['functions.invocation-stats', 'logs.all', 'usage.api-counts'];
const now = Date.parse('2024-12-31T23:59:59.999Z');
const endpoints = await copyEndpoints();
const service = await ownService({ now, env: { TAILRACE_ENDPOINTS_DIR: endpoints } });

const events = Array.from({ length: 10 }, (_, i) => {
  const metadata = { project_ref: 'acme', execution_time_ms: i, request: { path: `/rest/${i}` } };
  return { id: `e${i}`, timestamp: now * 1000 - i * 12 * 3_600_000_000, project: 'acme', metadata };
});
for (const source of ['cloudflare.logs.prod', 'deno-relay-logs'])
  await storeEvents(service.core, source, events, now);

async function readRows() {
  const asked = { project: 'acme', project_tier: 'PAYG' };
  const intervalOf = (name: string) => (name === 'usage.api-counts' ? 'daily' : '7day');
  const answers = NAMES.map((name) => ask(service.url, name, { ...asked, interval: intervalOf(name) }));
  return (await Promise.all(answers)).map(({ rows }) => rows);
}

test('max_rows of an endpoint file cuts its answer to the first rows in the order of its SQL', async () => {
  const whole = await readRows();
  for (const rows of whole) expect(rows.length).toBeGreaterThan(3);
  for (const name of NAMES) {
    const file = join(endpoints, name, 'endpoint.yaml');
    const yaml = await readFile(file, 'utf8');
    await writeFile(file, yaml.replace('max_rows: 1000', 'max_rows: 3').replace('size: 100', 'size: 3'));
  }
  await service.core.reload(); // another definition has other answers in the cache
  expect(await readRows()).toEqual(whole.map((rows) => rows.slice(0, 3)));
});
