import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { createEvaluate } from '../../src/alerts/evaluate.ts';
import { replayAt } from '../../src/alerts/replay.ts';
import { createRunner } from '../../src/query/run.ts';
import { storeSample } from '../../src/sample/fill.ts';
import { sql } from '../../src/sql/sql.ts';
import { openTestStore } from '../support/service.ts';

// What `tailrace init` copies, with as many sample logs as `tailrace dev` makes.
const store = await openTestStore({
  TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
  TAILRACE_SOURCES_DIR: 'template/sources',
  TAILRACE_ALERTS_DIR: 'template/alerts',
});
afterAll(store.close);
const { engine, registry } = store.core;
const endMs = Date.now();
const signal = new AbortController().signal;
await storeSample(engine, registry.sources, {
  ...{ rows: 20_000, seed: 1, days: 7, projects: 5, end: endMs * 1000 },
  ...{ signal, onProgress: () => {} },
});
const evaluate = createEvaluate({
  registry,
  run: createRunner(engine, Date.now),
  parameterBytesMax: 100_000,
});
const MINUTE_MS = 60_000;

const isoAt = (minutes: number) => new Date(endMs + minutes * MINUTE_MS).toISOString().slice(0, -1);

async function firing(name: string, afterEndMs: number) {
  const replayed = await replayAt(registry.getAlert(name), endMs + afterEndMs, { evaluate, signal });
  expect(replayed.failures, replayed.lastError).toBe(0);
  return replayed.firing.map(({ labels }) => labels);
}

describe('the alerts of a new project, over sample logs', () => {
  test('are those that this test tries', () => {
    expect(registry.alerts.map(({ name }) => name).toSorted()).toEqual(
      readdirSync('template/alerts').map((file) => file.replace('.yaml', '')),
    );
    expect(registry.alerts).toHaveLength(3);
  });

  test('failing.paths fires for the outage of the last hour, and no more when that is over', async () => {
    const counted = await engine.inspect(
      sql`SELECT path, count() AS failures FROM edge_logs WHERE project = 'aurora' AND status_code >= 500
        AND timestamp > ${isoAt(-56)} AND timestamp < ${isoAt(-4)} GROUP BY path`, // also two minutes ago
    );
    const failed = counted.filter(({ failures }) => Number(failures) > 1).map(({ path }) => ({ path }));
    expect(await firing('failing.paths', 0)).toEqual(expect.arrayContaining(failed));
    expect(await firing('failing.paths', 70 * MINUTE_MS)).toEqual([]);
  });

  test('no.events fires a quarter of an hour after the last event', async () => {
    expect(await firing('no.events', 0)).toEqual([]);
    expect(await firing('no.events', 10 * MINUTE_MS)).toEqual([]);
    expect(await firing('no.events', 18 * MINUTE_MS)).toEqual([{}]);
  });

  test('slow.functions fires for the one slow function', async () => {
    const named = await engine.inspect(
      sql`SELECT DISTINCT function_id FROM function_edge_logs WHERE project = 'aurora' AND metadata LIKE '%/render-report"%'`,
    );
    expect(named).toHaveLength(1);
    expect(await firing('slow.functions', 0)).toEqual(named);
    expect(await firing('slow.functions', 50 * 60 * MINUTE_MS)).toEqual([]);
  });
});
