import { afterAll, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);

test.each([
  ['whose repetitions multiply', '(?:(.*)(.*)(.*)(.*)(.*)){1000}'],
  ['whose classes are large', '(?:\\pL\\PN{0,9}){30}~'],
])('a pattern %s is refused before it can hold a reader', async (_, project) => {
  const { status, body } = await service.call('usage.api-counts', { project, interval: 'daily' });
  expect([status, body.error.code]).toEqual([400, 'invalid_parameter']);
  expect(body.error.message).toMatch(/^project is too large a pattern/);
});

const PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=hourly`;

test.each([
  ['an Accept with a quote that never ends', { accept: `a/b;x="${','.repeat(30_000)}` }],
  ['an Accept-Encoding of many codings', { 'accept-encoding': 'a;q=1,'.repeat(1_000) }],
  ['more headers than there is room for', { 'x-one': 'x'.repeat(20_000), 'x-two': 'y'.repeat(20_000) }],
])('%s is refused before it is read', async (_, headers) => {
  expectError(await get(service.url, PATH, headers), 'invalid_request');
});

test('more parameters than an endpoint may have are refused, in the URL before the key is looked at', async () => {
  const many = Array.from({ length: 1_001 }, (_, i) => `n${i}`);
  expectError(await get(service.url, `${PATH}&${many.join('&')}`, { 'x-api-key': '' }), 'invalid_request');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(Object.fromEntries(many.map((name) => [name, 'x'])));
  const answer = await request(service.url, PATH, { method: 'POST', headers, body });
  expectError(answer, 'invalid_request');
  expect(answer.body.error.message).toContain('more than 1000 parameters');
});
