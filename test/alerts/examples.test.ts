import { afterAll, expect, test } from 'vitest';
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
await storeSample(engine, registry.sources, {
  ...{ rows: 20_000, seed: 1, days: 7, projects: 5, end: endMs * 1000 },
  ...{ signal: new AbortController().signal, onProgress: () => {} },
});
const evaluate = createEvaluate({
  registry,
  run: createRunner(engine, Date.now),
  parameterBytesMax: 100_000,
});
const MINUTE_MS = 60_000;

const isoAt = (minutes: number) => new Date(endMs + minutes * MINUTE_MS).toISOString().slice(0, -1);

async function firing(name: string, minutes: number) {
  const options = { evaluate, signal: new AbortController().signal };
  const replayed = await replayAt(registry.getAlert(name), endMs + minutes * MINUTE_MS, options);
  expect(replayed.failures, replayed.lastError).toBe(0);
  return replayed.firing.map(({ labels }) => labels);
}

test('the alerts of a new project fire for what is wrong in the sample logs, and then end', async () => {
  expect(registry.alerts.map(({ name }) => name).toSorted()).toEqual([
    'failing.paths',
    'no.events',
    'slow.functions',
  ]);
  const counted = await engine.inspect(
    sql`SELECT path, count() AS failures FROM edge_logs WHERE project = 'aurora' AND status_code >= 500
      AND timestamp > ${isoAt(-56)} AND timestamp < ${isoAt(-4)} GROUP BY path`, // also two minutes ago
  );
  const failed = counted.filter(({ failures }) => Number(failures) > 1).map(({ path }) => ({ path }));
  expect(await firing('failing.paths', 0)).toEqual(expect.arrayContaining(failed));
  expect(await firing('failing.paths', 70)).toEqual([]);
  expect(await firing('no.events', 10)).toEqual([]);
  expect(await firing('no.events', 18)).toEqual([{}]);
  expect(await firing('slow.functions', 0)).toHaveLength(1);
  expect(await firing('slow.functions', 50 * 60)).toEqual([]);
});
