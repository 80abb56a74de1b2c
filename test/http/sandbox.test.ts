import { describe, expect, test } from 'vitest';
import { storeCanaries, writeDefinitions } from '../sandbox/support.ts';
import { type Body, expectError, get, QUERY_PATH, request, post as send } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const definitions = await writeDefinitions();
const { core, clock, url, call } = await ownService({ env: definitions.env });
await storeCanaries(core);

const post = (endpoint: string, body: Body) => send(url, `${QUERY_PATH}/${endpoint}`, body);

describe('a SELECT in sql', () => {
  test('runs over the views of the stored query, with the same parameters', async () => {
    const sql = 'SELECT id, status FROM errors ORDER BY id LIMIT 2';
    const { status, body } = await call('sandbox.on', { project: 'p', sql });
    const rows = ['p11', 'p14'].map((id) => ({ id, status: 503 }));
    expect({ status, body }).toEqual({ status: 200, body: { result: rows } });
  });

  test('reads the instant of its query as the clock', async () => {
    const sql = `SELECT toUnixTimestamp(now()) AS now, toUnixTimestamp64Milli(now64( )) AS now64,
      toString(Today()) AS today, yesterday () = today() - 1 AS before, 'now()' AS text`;
    expect((await call('sandbox.on', { project: 'p', sql })).body.result).toEqual([
      {
        now: Math.floor(clock.now / 1000),
        now64: clock.now,
        today: new Date(clock.now).toISOString().slice(0, 10),
        before: 1,
        text: 'now()',
      },
    ]);
  });

  test('is answered from the cache when it is the same SELECT, however it is written', async () => {
    const status = async (sql: string, project = 'p') =>
      (await call('sandbox.on', { project, sql })).headers.get('cache-status');
    expect(await status('SELECT max(id) FROM app')).toContain('fwd=miss; stored');
    expect(await status('select  max(id) from app -- again')).toContain('hit');
    expect(await status('SELECT min(id) FROM app')).toContain('fwd=miss; stored');
    expect(await status('SELECT max(id) FROM app', 'q')).toContain('fwd=miss; stored');
    clock.now += 901_000;
    expect(await status('SELECT max(id) FROM app')).toContain('fwd=miss; stored');
  });

  test.each(['SELECT * FROM secret_logs', 'SELECT * FROM app SETTINGS readonly = 0'])(
    'that is not allowed is refused with what was wrong: %s',
    async (sql) => {
      for (const answer of [
        await get(url, `${QUERY_PATH}/sandbox.on?${new URLSearchParams({ project: 'p', sql })}`),
        await post('sandbox.on', { project: 'p', sql }),
      ]) {
        expectError(answer, 'invalid_parameter');
        const message = expect.stringMatching(/\S/);
        expect(answer.body.error.errors).toEqual([{ parameter: 'sql', message }]);
      }
    },
  );

  test('that names what no view has, or fails on its data, is told so', async () => {
    const unknown = await post('sandbox.on', { project: 'p', sql: 'SELECT nobody FROM app' });
    expectError(unknown, 'query_failed', 'nobody');
    const failed = await post('sandbox.on', { project: 'p', sql: 'SELECT toInt8(event_message) FROM app' });
    expectError(failed, 'query_failed');
    expect(failed.text).not.toContain('GET /rest');
  });
});

describe('POST to any endpoint', () => {
  test('takes parameters from the body, from the URL, and from both', async () => {
    const expected = { result: [{ n: 11 }] };
    expect((await post('sandbox.off', { project: 'p', pattern: '/rest/2' })).body).toEqual(expected);
    expect((await post('sandbox.off?project=p', { pattern: '/rest/2' })).body).toEqual(expected);
    const path = `${QUERY_PATH}/sandbox.off?project=p&pattern=/rest/2`;
    expect((await request(url, path, { method: 'POST' })).body).toEqual(expected);
  });

  test.each([
    ['[]', 'invalid_request'],
    ['{"project":1}', 'invalid_request'],
    ['{"__proto__":{"project":"p"}}', 'invalid_request'],
    [`{"project":"${'x'.repeat(263_000)}"}`, 'body_too_large'],
  ] as const)('refuses the body %.40s', async (body, code) => {
    expectError(await post('sandbox.off', body), code);
  });
});
