import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';

// Searches leave out the tables without rows: the first event of a source is found at once nevertheless.
const nowMs = Date.UTC(2026, 10, 20, 12);
const service = await startTestService({ now: nowMs });
afterAll(service.close);
const { url, core } = service;
const QUERY = 'from=2026-11-20T11:00:00Z&until=2026-11-20T12:00:00Z';

async function find(more: string): Promise<Record<string, unknown>[]> {
  const answer = await get(url, `/api/search?${QUERY}&${more}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.result as Record<string, unknown>[];
}

const store = (source: string, id: string) =>
  storeEvents(
    core,
    source,
    [{ id, timestamp: '2026-11-20T11:30:00Z', project: 'aurora', event_message: 'hello' }],
    nowMs,
  );

test('the first event of a source is found by the next search, of every part', async () => {
  const found: string[] = [];
  const names = core.registry.sources.filter(({ isInternal }) => isInternal !== true).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(5);
  for (const [nth, source] of names.entries()) {
    // Other texts each time: no answer is cached. The first search begins to read which tables have rows.
    expect(await find(`q=hello or nothing${nth}a`)).toHaveLength(found.length);
    await wait(50);
    expect(await find(`q=hello or nothing${nth}b`)).toHaveLength(found.length);
    await store(source, `event-${nth}`);
    found.push(source);
    const rows = await find(`q=hello or nothing${nth}c`);
    expect(rows.map((row) => row['source']).sort()).toEqual([...found].sort());
    const values = await find(`q=hello or nothing${nth}d&part=values&field=source`);
    expect(values.map(({ value }) => value).sort()).toEqual([...found].sort());
    const counts = await find(`q=hello or nothing${nth}e&part=histogram&by=source&buckets=1`);
    expect(counts).toHaveLength(found.length);
  }
});

test('a cached answer without events is replaced once its source has one', async () => {
  const query = 'q=hello&source=tailrace.usage,gotrue.logs.prod&part=values&field=project';
  const [before] = await find(query);
  await store('gotrue.logs.prod', 'another');
  await expect
    .poll(async () => (await find(query))[0]?.['count'], { timeout: 30_000 })
    .toBe(Number(before?.['count'] ?? 0) + 1);
});
