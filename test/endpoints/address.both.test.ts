import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startTestService, storeEvents, temporaryFolder } from '../support/service.ts';
import { ask } from './support.ts';

const NAMES = ['functions.invocation-stats', 'logs.all', 'usage.api-counts'];
const now = Date.parse('2024-12-31T23:59:59.999Z');

// The shipped endpoints without their caches, so that every answer here comes from a query of its own.
const folder = await temporaryFolder();
await cp('endpoints', folder.path, { recursive: true });
await changeEndpoints((yaml) =>
  yaml.replace(/^caching: .*$/m, 'caching: "disabled"').replace(/^cache_warming: .*\n/m, ''),
);
const service = await startTestService({ now, env: { TAILRACE_ENDPOINTS_DIR: folder.path } });
afterAll(async () => {
  await service.close();
  await folder.remove();
});

const events = Array.from({ length: 10 }, (_, i) => {
  const metadata = { project_ref: 'acme', execution_time_ms: i, request: { path: `/rest/${i}` } };
  return { id: `e${i}`, timestamp: now * 1000 - i * 12 * 3_600_000_000, project: 'acme', metadata };
});
await storeEvents(service.core, 'cloudflare.logs.prod', events, now);
await storeEvents(service.core, 'deno-relay-logs', events, now);

async function changeEndpoints(change: (yaml: string) => string): Promise<void> {
  for (const name of NAMES) {
    const file = join(folder.path, name, 'endpoint.yaml');
    const yaml = await readFile(file, 'utf8');
    expect(change(yaml)).not.toBe(yaml);
    await writeFile(file, change(yaml));
  }
}

/** An answer of more than three rows. */
function answerOf(address: string, name: string) {
  const interval = name === 'usage.api-counts' ? 'daily' : '7day';
  return ask(service.url, address, { project: 'acme', interval, project_tier: 'PAYG' });
}

test.for(NAMES)('%s gives the same bytes by UUID and by name', async (name) => {
  const { id } = service.core.registry.getEndpoint(name);
  const byName = await answerOf(name, name);
  expect(byName.rows.length).toBeGreaterThan(3);
  expect((await answerOf(id, name)).text).toBe(byName.text);
  expect((await answerOf(id.toUpperCase(), name)).text).toBe(byName.text);
});

test('max_rows of an endpoint file cuts its answer to the first rows in the order of its SQL', async () => {
  const whole = await Promise.all(NAMES.map((name) => answerOf(name, name)));
  const cutTo3 = (yaml: string) =>
    yaml.replace('max_rows: 1000', 'max_rows: 3').replace('size: 100', 'size: 3');
  await changeEndpoints(cutTo3);
  await service.core.reload();
  const cut = await Promise.all(NAMES.map((name) => answerOf(name, name)));
  expect(cut.map(({ rows }) => rows)).toEqual(whole.map(({ rows }) => rows.slice(0, 3)));
});
