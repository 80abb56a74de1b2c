import { beforeAll, expect, test } from 'vitest';
import { isManaged } from '../../src/definitions/source.ts';
import { hasEvents, planSample, sampleEvents, storeSample } from '../../src/sample/fill.ts';
import { INCIDENT } from '../../src/sample/source.ts';
import { trusted } from '../../src/sql/sql.ts';
import { ownService } from '../support/service.ts';

const END = Date.UTC(2026, 10, 20, 7, 30) * 1000;
const service = await ownService({ now: END / 1000 });
const { engine, registry } = service.core;
const OPTIONS = { rows: 40_000, seed: 1, days: 7, projects: 3, end: END };
const sources = registry.sources.filter((source) => isManaged(source) && source.isInternal !== true);

beforeAll(async () => {
  expect(await hasEvents(engine, sources)).toBe(false);
  const whole = { ...OPTIONS, signal: new AbortController().signal, onProgress: () => {} };
  expect(await storeSample(engine, sources, whole)).toBe(OPTIONS.rows);
});

const rowsOf = async (endpoint: string, parameters: Record<string, string> = {}) =>
  (await service.call(endpoint, { project: 'aurora', ...parameters })).body.result;
const sum = (rows: readonly Record<string, unknown>[], column: string) =>
  rows.reduce((total, row) => total + Number(row[column]), 0);

test('a sample is stored whole', async () => {
  const tables = sources.map(({ table }) => `SELECT count() AS events FROM ${table}`);
  expect(sum(await engine.inspect(trusted(tables.join(' UNION ALL '))), 'events')).toBe(OPTIONS.rows);
  expect(await hasEvents(engine, sources)).toBe(true);
});

test('the same seed and end give the same events', () => {
  const [source] = sources;
  if (source === undefined) throw new Error('there are no sources');
  const first = (options: Partial<typeof OPTIONS>) => {
    const [part] = planSample([source], 1_000);
    return part && JSON.stringify([...sampleEvents(part, { ...OPTIONS, ...options })]);
  };
  expect(first({})).toBe(first({}));
  expect(first({ seed: 2 })).not.toBe(first({}));
  expect(first({ end: END + 1 })).not.toBe(first({}));
});

test('every typed column of every source has values', async () => {
  for (const { table, columns } of sources) {
    const counts = columns.map(
      ({ name }) => `countIf(ifNull(toString(${name}), '') NOT IN ('', '0', 'false')) AS ${name}`,
    );
    const [filled] = await engine.inspect(
      trusted(`SELECT ${['1 AS one', ...counts].join(', ')} FROM ${table}`),
    );
    expect(
      Object.entries(filled ?? {}).filter(([, count]) => Number(count) === 0),
      table,
    ).toEqual([]);
  }
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

test('each project has the incident in the last hour: its path fails most, and its new version alone', async () => {
  const since = `timestamp > fromUnixTimestamp64Micro(toInt64(${END})) - INTERVAL 1 HOUR`;
  const failing = await engine.inspect(
    trusted(`SELECT project, argMax(path, failures) AS path FROM (
      SELECT project, path, count() AS failures FROM edge_logs WHERE status_code >= 500 AND ${since} GROUP BY ALL
    ) GROUP BY project`),
  );
  expect(failing.map(({ path }) => path)).toEqual(
    Array(OPTIONS.projects).fill(`/functions/v1/${INCIDENT.name}`),
  );
  const calls = await engine.inspect(
    trusted(`SELECT median(execution_time_ms) > 1000 AS slow, countIf(status_code >= 500) / count() > 0.3 AS fails
      FROM function_edge_logs WHERE function_id = '${INCIDENT.name}-aurora'
      GROUP BY timestamp > fromUnixTimestamp64Micro(toInt64(${END})) - INTERVAL ${INCIDENT.seconds} SECOND AS after ORDER BY after`),
  );
  expect(calls).toEqual([
    { slow: 0, fails: 0 },
    { slow: 1, fails: 1 },
  ]);
});
