import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { acceptJson } from '../../src/http/json-body.ts';

const app = Fastify();
acceptJson(app, (_body, exact) => exact);
app.post('/', async ({ body }) => describeBody(body));

function describeBody(body: unknown) {
  const { id } = (body ?? {}) as { id?: unknown };
  return { type: typeof id, text: String(id) };
}

async function send(payload: string) {
  const { statusCode, body } = await app.inject({
    ...{ method: 'POST', url: '/', payload },
    headers: { 'content-type': 'application/json' },
  });
  return { status: statusCode, ...JSON.parse(body) };
}

test.each(['', '\uFEFF'])('integers are read digit by digit after %j', async (mark) => {
  expect(await send(`${mark}{"id":1}`)).toEqual({ status: 200, type: 'number', text: '1' });
  const long = { status: 200, type: 'bigint', text: '1189998819991197253' };
  expect(await send(`${mark}{"id":1189998819991197253}`)).toEqual(long);
  expect(await send(mark)).toMatchObject({ status: 200, type: 'undefined' });
  const place = { status: 400, message: 'the body is not valid JSON from line 1, column 9 on' };
  expect(await send(`${mark}{"id":1,}`)).toMatchObject(place);
});
