import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { acceptJson } from '../../src/http/json-body.ts';
import { hasTooManyValues, JSON_VALUES_MAX } from '../../src/http/json-values.ts';

const app = Fastify();
acceptJson(app, (_body, exact) => exact);
app.post('/', async ({ body }) => {
  const { id } = (body ?? {}) as { id?: unknown };
  return { type: typeof id, text: String(id) };
});

async function send(payload: string) {
  const headers = { 'content-type': 'application/json' };
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/', payload, headers });
  return { status: statusCode, ...JSON.parse(body) };
}

test.each(['', '\uFEFF'])('integers are read digit by digit after %j', async (mark) => {
  expect(await send(`${mark}{"id":1}`)).toEqual({ status: 200, type: 'number', text: '1' });
  const long = { status: 200, type: 'bigint', text: '1189998819991197253' };
  expect(await send(`${mark}{"id":1189998819991197253}`)).toEqual(long);
  const place = { status: 400, message: 'the body is not valid JSON from line 1, column 9 on' };
  expect(await send(`${mark}{"id":1,}`)).toMatchObject(place);
});

test('values are counted, wherever they stand; commas and brackets of texts are not', () => {
  const list = (count: number, item = '1') => `[${Array.from({ length: count }, () => item).join(',')}]`;
  expect(hasTooManyValues(list(JSON_VALUES_MAX))).toBe(false);
  expect(hasTooManyValues(list(JSON_VALUES_MAX + 1))).toBe(true);
  expect(hasTooManyValues('['.repeat(JSON_VALUES_MAX + 1))).toBe(true);
  expect(hasTooManyValues(`{"a":${list(JSON_VALUES_MAX, '{}')}}`)).toBe(true);
  expect(hasTooManyValues(JSON.stringify({ sql: '[{,"\\'.repeat(20_000) }))).toBe(false);
  expect(hasTooManyValues(`{"a":"\\\\",${list(JSON_VALUES_MAX).slice(1)}`)).toBe(true);
});
