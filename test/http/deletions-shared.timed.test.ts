import { afterAll, expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { startRedis } from '../../trial/redis.ts';
import { ownFront } from '../support/front.ts';
import { get, post, QUERY_PATH, read } from '../support/http.ts';
import { ownService, startTestService, storeEvents } from '../support/service.ts';

const now = Date.now();
const front = await ownFront();
const env: Record<string, string> = { CLICKHOUSE_URL: front.url, TAILRACE_TOKEN_SECRET: 'x'.repeat(32) };
if (findProgram('redis-server') !== undefined) {
  const redis = await startRedis();
  afterAll(redis.remove);
  env['TAILRACE_REDIS_URL'] = `${redis.url}/0`;
}
const [a, b] = [await ownService({ env, now }), await ownService({ env, now })];

test('when one of two services over a server has deleted events, neither the other, Redis nor a third has an answer with them', async () => {
  const events = [1, 2, 3].map((i) => ({
    id: `e${i}`,
    timestamp: new Date(now - i * 60_000).toISOString(),
    project: 'shared',
    metadata: { request: { path: '/rest/v1', url: 'https://shared.example.com/rest/v1' } },
  }));
  await storeEvents(a.core, 'cloudflare.logs.prod', events, now);
  expect([await countRequests(a), await countRequests(b)]).toEqual([3, 3]);
  const { body, text } = await post<{ id: string }>(a.url, '/api/deletions', { project: 'shared' });
  expect(body, text).toMatchObject({ rows: 3 });
  // It goes on in the background if a busy machine has not ended it within the request's time.
  const stateOf = async () => (await read<{ state: string }>(a.url, `/api/deletions/${body.id}`)).state;
  await expect.poll(stateOf).toBe('done');
  expect([await countRequests(a), await countRequests(b)]).toEqual([0, 0]);
  const third = await startTestService({ env, now });
  onTestFinished(third.close);
  expect(await countRequests(third)).toBe(0);
});

async function countRequests({ url }: Pick<typeof a, 'url'>): Promise<number> {
  const answer = await get(url, `${QUERY_PATH}/usage.api-counts?project=shared&interval=daily`);
  return answer.body.result.reduce((sum, row) => sum + Number(row['total_rest_requests']), 0);
}
