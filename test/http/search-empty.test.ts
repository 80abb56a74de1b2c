import { expect, test } from 'vitest';
import { read } from '../support/http.ts';
import { ownService, storeEvents } from '../support/service.ts';

// Searches leave out the tables without rows: the first event of a source is found at once nevertheless.
const nowMs = Date.UTC(2026, 10, 20, 12);
const service = await ownService({ now: nowMs });
const { url, core } = service;

async function find(more: string): Promise<Record<string, unknown>[]> {
  const range = 'from=2026-11-20T11:00:00Z&until=2026-11-20T12:00:00Z';
  return (await read(url, `/api/search?${range}&${more}`)).result;
}

test('the first event of a source is found by the next search, of every part', async () => {
  const found: string[] = [];
  const names = core.registry.sources.filter(({ isInternal }) => isInternal !== true).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(5);
  const event = { timestamp: '2026-11-20T11:30:00Z', project: 'aurora', event_message: 'hello' };
  for (const [nth, source] of names.entries()) {
    // Other texts each time: no answer is cached.
    expect(await find(`q=hello or nothing${nth}a`)).toHaveLength(found.length);
    await storeEvents(core, source, [{ ...event, id: `event-${nth}` }], nowMs);
    found.push(source);
    const rows = await find(`q=hello or nothing${nth}b`);
    expect(rows.map((row) => row['source']).sort()).toEqual([...found].sort());
    expect(await find(`q=hello or nothing${nth}c&part=values&field=source`)).toHaveLength(found.length);
    const counts = await find(`q=hello or nothing${nth}d&part=histogram&by=source&buckets=1`);
    expect(counts).toHaveLength(found.length);
  }
});
