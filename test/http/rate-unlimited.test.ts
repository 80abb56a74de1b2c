import { afterAll, expect, test } from 'vitest';
import { get, QUERY_PATH } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ env: { TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX: '0' } });
afterAll(service.close);
const ask = (headers: Record<string, string> = {}) =>
  get(service.url, `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`, headers);
const statuses = async (times: number, headers?: Record<string, string>) => {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(headers)));
  return [...new Set(answers.map(({ status }) => status))];
};

test('a key without a rate is told of none and never refused', async () => {
  expect(await statuses(200)).toEqual([200]);
  const { headers } = await ask();
  expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});

test('wrong keys are answered 401, however many, where they are not bounded', async () => {
  expect(await statuses(700, { 'x-api-key': 'wrong' })).toEqual([401]);
  expect((await ask()).status).toBe(200);
});
