import { afterAll, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const MIB = 1024 * 1024;
const now = Date.parse('2026-11-20T07:00:00.000Z');

const service = await startTestService({
  env: { TAILRACE_QUERY_MEMORY_BYTES_MAX: String(32 * MIB) },
  now,
});
afterAll(service.close);

test('more times in one bucket than a query has memory for fail with that reason; few are counted', async () => {
  const store = (project: string, count: number) =>
    service.store.engine.command(`INSERT INTO function_edge_logs (id, timestamp, project, execution_time_ms)
      SELECT toString(number), fromUnixTimestamp64Milli(${now} - number % 60000, 'UTC'), '${project}', number
      FROM numbers(${count})`);
  await store('few', 1000);
  await store('many', 3_000_000);
  const few = await service.call('functions.invocation-stats', { project: 'few', interval: '7day' });
  expect(few.body.result.map((row) => row['p99_execution_time'])).toEqual([989]);
  const many = await service.call('functions.invocation-stats', { project: 'many', interval: '7day' });
  expect(many.status).toBe(422);
  expect(many.body.error).toMatchObject({
    code: 'query_failed',
    message: 'the query needs more memory than one query may take',
  });
}, 60_000);
