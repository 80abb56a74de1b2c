import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startRedis } from '../../trial/redis.ts';
import { get, post, QUERY_PATH } from '../support/http.ts';
import { startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

type Service = Awaited<ReturnType<typeof startTestService>>;

const closing: (() => Promise<void>)[] = [];
const now = Date.now();
let env: Record<string, string> = {};
let a: Service;
let b: Service;

beforeAll(async () => {
  const folder = await temporaryFolder();
  const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
  closing.push(front.close, folder.remove);
  env = { CLICKHOUSE_URL: front.url, TAILRACE_TOKEN_SECRET: 'x'.repeat(32) };
  if (findProgram('redis-server') !== undefined) {
    const redis = await startRedis();
    closing.push(redis.remove);
    env = { ...env, TAILRACE_REDIS_URL: `${redis.url}/0` };
  }
  a = await startTestService({ env, now });
  b = await startTestService({ env, now });
  closing.unshift(a.close, b.close);
});
afterAll(async () => {
  for (const close of closing) await close();
});

test('when one of two services over a server has deleted events, neither the other, Redis nor a third has an answer with them', async () => {
  const events = [1, 2, 3].map((i) => ({
    id: `e${i}`,
    timestamp: new Date(now - i * 60_000).toISOString(),
    project: 'shared',
    metadata: { request: { path: '/rest/v1', url: 'https://shared.example.com/rest/v1' } },
  }));
  await storeEvents(a.core, 'cloudflare.logs.prod', events, now);
  expect([await countRequests(a), await countRequests(b)]).toEqual([3, 3]);
  const deleted = await post(a.url, '/api/deletions', { project: 'shared' });
  expect(deleted.body, deleted.text).toMatchObject({ rows: 3 });
  // It goes on in the background if a busy machine has not ended it within the request's time.
  const { id } = JSON.parse(deleted.text) as { id: string };
  const stateOf = async () => JSON.parse((await get(a.url, `/api/deletions/${id}`)).text).state;
  await expect.poll(stateOf).toBe('done');
  expect([await countRequests(a), await countRequests(b)]).toEqual([0, 0]);
  const third = await startTestService({ env, now });
  closing.unshift(third.close);
  expect(await countRequests(third)).toBe(0);
});

async function countRequests({ url }: Service): Promise<number> {
  const answer = await get(url, `${QUERY_PATH}/usage.api-counts?project=shared&interval=daily`);
  return answer.body.result.reduce((sum, row) => sum + Number(row['total_rest_requests']), 0);
}
