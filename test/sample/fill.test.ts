import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasEvents, storeSample } from '../../src/sample/fill.ts';
import { trusted } from '../../src/sql/sql.ts';
import { openTestStore, startTestService } from '../support/service.ts';
import { END, OPTIONS } from './support.ts';

const ROWS = 40_000;
const ignore = () => {};
const never = new AbortController().signal;

describe('a stored sample', async () => {
  const service = await startTestService({ now: END / 1000 });
  afterAll(service.close);
  const { engine, registry } = service.core;
  const options = { ...OPTIONS, rows: ROWS, signal: never, onProgress: ignore };
  beforeAll(async () => {
    expect(await hasEvents(engine, registry.sources)).toBe(false);
    expect(await storeSample(engine, registry.sources, options)).toBe(ROWS);
  });

  const rowsOf = async (endpoint: string, parameters: Record<string, string>) =>
    (await service.call(endpoint, { project: 'aurora', ...parameters })).body.result;
  const sum = (rows: readonly Record<string, unknown>[], column: string) =>
    rows.reduce((total, row) => total + Number(row[column]), 0);

  test('is all there', async () => {
    const tables = registry.sources.map((source) => `SELECT count() AS events FROM ${source.table}`);
    const rows = await engine.inspect(trusted(tables.join(' UNION ALL ')));
    expect(sum(rows, 'events')).toBe(ROWS);
    expect(rows.filter((row) => row['events'] === 0)).toHaveLength(3); // of the general source, the usage and the audit trail, which have no sample
    expect(await hasEvents(engine, registry.sources)).toBe(true);
  });

  test('gives logs.all its hundred entries', async () => {
    expect(await rowsOf('logs.all', {})).toHaveLength(100);
  });

  test.each(['hourly', 'minutely', 'daily'])(
    'gives usage.api-counts requests in all four areas, %s',
    async (interval) => {
      const rows = await rowsOf('usage.api-counts', { interval });
      for (const area of ['rest', 'storage', 'auth', 'realtime']) {
        expect(sum(rows, `total_${area}_requests`), area).toBeGreaterThan(0);
      }
    },
  );

  test.each(['5min', '15min', '1hr', '1day', '7day'])(
    'gives functions.invocation-stats invocations, %s',
    async (interval) => {
      expect(sum(await rowsOf('functions.invocation-stats', { interval }), 'count')).toBeGreaterThan(0);
    },
  );

  test('has as many requests for a function at the gateway as invocations of it', async () => {
    const countsOf = async (slug: string, table: string, where: string) =>
      await engine.inspect(
        trusted(
          `SELECT project, ${slug} AS slug, count() AS calls FROM ${table} WHERE ${where} GROUP BY ALL ORDER BY ALL`,
        ),
      );
    const path = (name: string) => `JSONExtractString(metadata, 'request', '${name}')`;
    const invoked = await countsOf(path('pathname'), 'function_edge_logs', '1');
    expect(invoked).toHaveLength(15);
    expect(await countsOf('path', 'edge_logs', "path LIKE '/functions/%'")).toEqual(invoked);
  });

  test('has failing paths of each project in the last hour, as the example of the README finds them', async () => {
    const rows = await engine.inspect(
      trusted(`SELECT project, uniqExact(path) AS paths FROM edge_logs
       WHERE status_code >= 500 AND timestamp > fromUnixTimestamp64Micro(toInt64(${END})) - INTERVAL 1 HOUR GROUP BY project`),
    );
    expect(rows).toHaveLength(OPTIONS.projects);
  });

  test('has one function that is much slower than the others', async () => {
    const medians = await engine.inspect(
      `SELECT function_id, quantileExact(execution_time_ms) AS median FROM function_edge_logs
       WHERE project = 'aurora' GROUP BY function_id ORDER BY median DESC`,
    );
    expect(medians).toHaveLength(5);
    const [slowest = 0, next = 0] = medians.map((row) => Number(row['median']));
    expect(slowest).toBeGreaterThan(8 * next);
  });

  test('has bursts of errors, few in number, in a calm stream', async () => {
    const rows = await engine.inspect(
      `SELECT countIf(share > 0.15) AS bursts, countIf(share < 0.02) AS calm FROM (
         SELECT countIf(status_code >= 500) / count() AS share FROM edge_logs WHERE project = 'aurora'
         GROUP BY toStartOfInterval(timestamp, toIntervalMinute(15)) HAVING count() >= 10)`,
    );
    const [{ bursts, calm } = { bursts: 0, calm: 0 }] = rows;
    expect(bursts).toBeGreaterThanOrEqual(2);
    expect(calm).toBeGreaterThan(10 * Number(bursts));
  });
});

test('a sample that is stopped stores what was made, and counts it', async () => {
  const { core, close } = await openTestStore();
  try {
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const options = { ...OPTIONS, end: Date.now() * 1000, signal: controller.signal, onProgress };
    const stored = await storeSample(core.engine, core.registry.sources, options);
    expect(stored).toBe(2_000); // it looks at the signal after each progress
    const [row] = await core.engine.inspect('SELECT count() AS events FROM edge_logs');
    expect(row).toEqual({ events: stored });
  } finally {
    await close();
  }
});

test('the progress of a sample counts what is stored over all sources and never falls', async () => {
  const { core, close } = await openTestStore();
  try {
    const seen: number[] = [];
    const onProgress = (stored: number) => void seen.push(stored);
    const options = { ...OPTIONS, end: Date.now() * 1000, signal: never, onProgress };
    await storeSample(core.engine, core.registry.sources, options);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBeGreaterThan(24_000); // more than the edge logs alone
  } finally {
    await close();
  }
});
