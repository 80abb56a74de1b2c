import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasEvents, storeSample } from '../../src/sample/fill.ts';
import { trusted } from '../../src/sql/sql.ts';
import { startTestService } from '../support/service.ts';

const END = Date.UTC(2026, 10, 20, 7, 30) * 1000;
const service = await startTestService({ now: END / 1000 });
afterAll(service.close);
const { engine, registry } = service.core;
const OPTIONS = { rows: 40_000, seed: 1, days: 7, projects: 3, end: END };

beforeAll(async () => {
  expect(await hasEvents(engine, registry.sources)).toBe(false);
  // Stopped at its first progress, it has stored and counted what was generated.
  const stopped = new AbortController();
  const onProgress = () => stopped.abort();
  const few = { ...OPTIONS, rows: 4_000, seed: 2, signal: stopped.signal, onProgress };
  expect(await storeSample(engine, registry.sources, few)).toBe(2_000);
  const whole = { ...OPTIONS, signal: new AbortController().signal, onProgress: () => {} };
  expect(await storeSample(engine, registry.sources, whole)).toBe(OPTIONS.rows);
});

const rowsOf = async (endpoint: string, parameters: Record<string, string> = {}) =>
  (await service.call(endpoint, { project: 'aurora', ...parameters })).body.result;
const sum = (rows: readonly Record<string, unknown>[], column: string) =>
  rows.reduce((total, row) => total + Number(row[column]), 0);

test('a sample is stored whole, also after one that was stopped', async () => {
  const tables = registry.sources.map(({ table }) => `SELECT count() AS events FROM ${table}`);
  expect(sum(await engine.inspect(trusted(tables.join(' UNION ALL '))), 'events')).toBe(OPTIONS.rows + 2_000);
  expect(await hasEvents(engine, registry.sources)).toBe(true);
});

test('the three endpoints return rows of it', async () => {
  expect(await rowsOf('logs.all')).toHaveLength(100);
  for (const interval of ['hourly', 'daily']) {
    const rows = await rowsOf('usage.api-counts', { interval });
    for (const area of ['rest', 'storage', 'auth', 'realtime'])
      expect(sum(rows, `total_${area}_requests`), area).toBeGreaterThan(0);
  }
  for (const interval of ['5min', '7day'])
    expect(sum(await rowsOf('functions.invocation-stats', { interval }), 'count')).toBeGreaterThan(0);
});

test('each project has failing paths in the last hour, which the example of the README finds', async () => {
  const rows = await engine.inspect(
    trusted(`SELECT project, uniqExact(path) AS paths FROM edge_logs
      WHERE status_code >= 500 AND timestamp > fromUnixTimestamp64Micro(toInt64(${END})) - INTERVAL 1 HOUR GROUP BY project`),
  );
  expect(rows).toHaveLength(OPTIONS.projects);
});
