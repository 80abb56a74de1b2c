import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createService } from '../../src/service/service.ts';
import { trusted } from '../../src/sql/sql.ts';
import { readMetric } from '../support/http.ts';
import { idsOf, post, TO_EDGE } from '../support/ingest.ts';
import { type AnswerBody, PRIVATE_KEY, temporaryFolder, testConfig } from '../support/service.ts';

const DAY_MS = 86_400_000;
const folder = await temporaryFolder();
afterAll(folder.remove);
const sourcesDir = join(folder.path, 'sources');
await cp('sources', sourcesDir, { recursive: true });
await setRetention(1);

async function setRetention(days: number): Promise<void> {
  for (const name of await readdir(sourcesDir)) {
    const text = await readFile(join(sourcesDir, name), 'utf8');
    await writeFile(join(sourcesDir, name), text.replace(/retention_days: \d+/, `retention_days: ${days}`));
  }
}

/** A service on the one data directory of this file. */
async function start(now = Date.now()) {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const env = { TAILRACE_SOURCES_DIR: sourcesDir, TAILRACE_CLOCK_JUMP_HOURS_MAX: '1000' }; // days pass between starts
  const config = testConfig(folder.path, env);
  const service = await createService(config, { logger, owner: 'a test', now: () => now });
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const log = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...service, url, log };
}

async function ask(url: string, endpoint: string, query: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${url}/api/endpoints/query/${endpoint}?${query}`, {
    headers: { 'x-api-key': PRIVATE_KEY },
  });
  const { result } = (await response.json()) as AnswerBody;
  return result;
}

test('no endpoint returns what is older than its source keeps, also before its day is dropped', async () => {
  const { core, url, close } = await start();
  // Two events of the one day that is leaving now, in one part of the table: the second still has to be seen.
  const bound = Date.now() - DAY_MS;
  const endOfDay = (Math.floor(bound / DAY_MS) + 1) * DAY_MS - 1;
  const rows = `SELECT ['old', 'young'][n] AS id, fromUnixTimestamp64Milli([${bound - 1000}, ${endOfDay}][n]) AS timestamp, 'p' AS project`;
  const from = 'FROM (SELECT number + 1 AS n FROM numbers(2))';
  await core.engine.command(
    trusted(`INSERT INTO tailrace.edge_logs (id, timestamp, project, path) ${rows}, '/rest' ${from}`),
  );
  await core.engine.command(
    trusted(
      `INSERT INTO tailrace.function_edge_logs (id, timestamp, project, execution_time_ms) ${rows}, 5 ${from}`,
    ),
  );
  expect(await idsOf(core, 'p')).toEqual(['old', 'young']);
  expect(await idsOf(core, 'p', 'function_edge_logs')).toEqual(['old', 'young']);

  const seen = async () => {
    const logs = await ask(url, 'logs.all', 'project=p&project_tier=ENTERPRISE');
    const counts = await ask(url, 'usage.api-counts', 'project=p&interval=daily');
    const stats = await ask(url, 'functions.invocation-stats', 'project=p&interval=7day');
    const sum = (list: Record<string, unknown>[], name: string) =>
      list.reduce((n, row) => n + Number(row[name]), 0);
    return {
      logs: logs.map((row) => row['id']),
      rest: sum(counts, 'total_rest_requests'),
      calls: sum(stats, 'count'),
    };
  };
  expect(await seen()).toEqual({ logs: ['young'], rest: 1, calls: 1 });
  await close();
});

test('a longer retention, read again, shows what is still there', async () => {
  const { core, url, close } = await start();
  expect(await ask(url, 'logs.all', 'project=p&project_tier=PRO')).toHaveLength(1);
  await setRetention(30);
  await core.reload();
  expect(await ask(url, 'logs.all', 'project=p&project_tier=PRO')).toHaveLength(2);
  await setRetention(1);
  await core.reload();
  expect(await ask(url, 'logs.all', 'project=p&project_tier=PRO')).toHaveLength(1);
  await close();
});

test('an event that is older, or more than an hour ahead, is not taken', async () => {
  const now = Date.now();
  const { core, url, close } = await start(now);
  const offsets = [-DAY_MS, -DAY_MS + 600_000, 3_600_000, 3_600_001];
  const events = offsets.map((offset) => ({ id: `${offset}`, project: 'edges', timestamp: now + offset }));
  const answer = await post(url, TO_EDGE, events);
  expect([answer.status, answer.body]).toEqual([
    406,
    {
      message: [
        expect.stringMatching(/^event 1: is older than the 1 days that cloudflare\.logs\.prod keeps: /),
        expect.stringMatching(/^event 4: has a timestamp more than an hour ahead: /),
      ],
    },
  ]);
  expect(await idsOf(core, 'edges')).toEqual([`${-DAY_MS + 600_000}`, '3600000']);
  await close();
});

test('what is too old when the service starts goes at once, is logged and counted', async () => {
  const first = await start();
  await post(first.url, TO_EDGE, [{ id: '1', project: 'p' }]);
  const day = new Date().toISOString().slice(0, 10);
  await first.close();
  const { core, url, log, close } = await start(Date.now() + 3 * DAY_MS);
  const dropped = log().filter((line) => line['msg'] === 'a day of events was dropped');
  expect(dropped).toContainEqual(
    expect.objectContaining({ table: 'edge_logs', day, reason: 'age', bytes: expect.any(Number) }),
  );
  expect(await readMetric(url, 'tailrace_days_dropped_total', { reason: 'age' })).toBe(dropped.length);
  expect(await idsOf(core, 'p')).toEqual([]);
  await close();
});
