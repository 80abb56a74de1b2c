import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeDefinitions } from '../sandbox/support.ts';
import { writeEveryType } from '../support/every-type.ts';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const YAML = `id: 7dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: typed.on
description: A test.
max_rows: 50
caching: 900
query_sandboxing: true
parameters:
  project: { type: string, required: true, max_length: 20, description: A project. }
  min_status: { type: integer, min: 100, max: 599, examples: [500], description: The least status. }
  statuses: { type: list, of: integer, max_items: 3, description: Any of them. }
  day: { type: date, description: A day. }
  newest: { type: boolean, default: true, description: Newest first. }
columns:
  status: { type: integer, description: A status. }
`;
const SQL = `WITH app AS (
  SELECT status, timestamp FROM app_logs
  WHERE project = @project
    AND (@min_status IS NULL OR status >= @min_status)
    AND (empty(@statuses) OR status IN @statuses)
    AND (@day IS NULL OR toDate(timestamp, 'UTC') = @day)
)
SELECT status FROM app ORDER BY if(@newest, -1, 1) * toUnixTimestamp64Milli(timestamp)
`;

const definitions = await writeDefinitions();
const folder = join(definitions.path, 'endpoints/typed.on');
await mkdir(folder);
await writeFile(join(folder, 'endpoint.yaml'), YAML);
await writeFile(join(folder, 'query.sql'), SQL);
await writeEveryType(definitions.path);
const service = await startTestService({ env: definitions.env });
const { core, clock, url, call, close } = service;
const day = (at: number) => new Date(at).toISOString().slice(0, 10);
await storeEvents(
  core,
  'app.logs',
  [200, 404, 500, 503].map((status, i) => ({
    timestamp: new Date(clock.now - i * 86_400_000).toISOString(),
    project: 'p',
    event_message: 'x',
    metadata: { status },
  })),
  clock.now,
);
afterAll(async () => {
  await close();
  await definitions.remove();
});

const HEADERS = { 'content-type': 'application/json' };
const post = (body: unknown) =>
  request(url, `${QUERY_PATH}/typed.on`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
const statusesOf = (answer: { body: unknown }) =>
  (answer.body as { result: { status: number }[] }).result.map(({ status }) => status);
const ask = async (query: string) => statusesOf(await get(url, `${QUERY_PATH}/typed.on?project=p${query}`));

describe('parameters that are values of their type in the SQL', () => {
  test.each([
    ['', [200, 404, 500, 503]],
    ['&min_status=500', [500, 503]],
    ['&statuses=404,503', [404, 503]],
    ['&statuses=404&statuses=503&newest=0', [503, 404]],
    [`&day=${day(clock.now - 86_400_000)}`, [404]],
  ])('select rows by %j', async (query, statuses) => {
    expect(await ask(query)).toEqual(statuses);
  });

  test('may be JSON values of a POST body', async () => {
    const body = { project: 'p', min_status: 500, statuses: [503, 404], newest: false };
    expect(statusesOf(await post(body))).toEqual([503]);
  });

  test('are refused out of their bounds, each by name', async () => {
    const answer = await get(
      url,
      `${QUERY_PATH}/typed.on?min_status=99&statuses=1,2,3,4&day=x&project=${'p'.repeat(21)}`,
    );
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.errors).toEqual([
      { parameter: 'project', message: 'must have at most 20 characters, and has 21' },
      { parameter: 'min_status', message: 'must be from 100 to 599, not "99"' },
      { parameter: 'statuses', message: 'must have at most 3 items, and has 4' },
      { parameter: 'day', message: 'must be a date, such as 2026-11-20, not "x"' },
    ]);
  });

  test('share a cache entry between the spellings of a value', async () => {
    const path = `${QUERY_PATH}/typed.on?project=p&min_status=`;
    await get(url, `${path}501`);
    const second = await get(url, `${path}0501`);
    expect(second.headers.get('cache-status')).toContain('hit');
  });

  test('are values of their type in a caller’s own SELECT, too', async () => {
    const sql = 'SELECT status FROM app WHERE status > @min_status AND status IN @statuses';
    const own = await call('typed.on', { project: 'p', min_status: '404', statuses: '404,500', sql });
    expect(statusesOf(own)).toEqual([500]);
    const pattern = await call('typed.on', { project: 'p', sql: "SELECT match('x', @day) AS m FROM app" });
    expect(pattern.status).toBe(400);
  });
});

const EVERY_PATH = `${QUERY_PATH}/every.type`;
const postEvery = (body: string, headers = {}) =>
  request(url, EVERY_PATH, { method: 'POST', headers: { ...HEADERS, ...headers }, body });

describe('a parameter of each type', () => {
  // test/definitions/parameter.both.test.ts tries many values of each type.
  test.each<[string, string[]]>([
    ['s', ['"abcdef"']],
    ['e', ['"c"', '"\\ud800"']],
    ['t', ['"2026-02-30T00:00:00Z"']],
    ['r', ['"(a{500}){500}"']],
    ['i', ['"1e3"', '"9223372036854775808"', '1e17', '1.5']],
    ['n', ['"NaN"', '1e400', '"1,5"']],
    ['b', ['"TRUE"']],
    ['d', ['"2149-06-07"']],
    ['u', ['"7f0c"']],
    ['l', ['"1,,2"', '[1,2,3,4]', '["1,2"]', '[""]']],
  ])('%s rejects other values by name', async (name, values) => {
    for (const json of values) {
      const answer = await postEvery(`{"${name}":${json}}`);
      expectError(answer, 'invalid_parameter');
      expect(answer.body.error.errors).toEqual([{ parameter: name, message: expect.any(String) }]);
    }
  });

  test('is NULL or empty if it is left out or empty', async () => {
    const none = { s: '', e: '', t: '', r: '', i: null, n: null, b: null, d: null, u: null, l: '[]' };
    const empty = Object.keys(none).map((name) => `${name}=`);
    expect((await get(url, EVERY_PATH)).body.result).toEqual([none]);
    expect((await get(url, `${EVERY_PATH}?${empty.join('&')}`)).body.result).toEqual([none]);
    expect((await postEvery('{"s":"","l":[]}')).body.result).toEqual([none]);
  });

  test.each(['9007199254740993', '-9223372036854775808'])(
    'i and l keep each digit of %s, in the URL and in a body',
    async (digits) => {
      for (const answer of [
        await get(url, `${EVERY_PATH}?i=${digits}&l=${digits}`),
        await postEvery(`{"i":${digits},"l":[${digits},"${digits}"]}`),
        await postEvery(`{"i":"${digits}","l":"${digits}"}`),
      ]) {
        expect(answer.text).toContain(`"i":${digits},`);
        expect(answer.text).toContain(digits.slice(1));
        expect(answer.body.result[0]?.['l']).toMatch(new RegExp(`^\\[${digits}(,${digits})?\\]$`));
      }
    },
  );

  test('keeps to the pin of an integer beyond 2^53, digit by digit', async () => {
    const grant = { name: 'large', scopes: ['query'], pins: { i: '9007199254740993' } } as const;
    const headers = { 'x-api-key': (await service.service.keyring.create(grant)).key };
    expect((await postEvery('{"i":9007199254740993}', headers)).text).toContain('"i":9007199254740993,');
    expectError(await postEvery('{"i":9007199254740992}', headers), 'forbidden');
    expectError(await postEvery('{"s":9007199254740993}'), 'invalid_request');
  });

  test('keeps to the pin of a key and of its tokens, by value', async () => {
    const pins = { i: '07', l: '1,2' };
    const { key } = await service.service.keyring.create({ name: 'pinned', scopes: ['query'], pins });
    const signed = await request(url, '/api/tokens', {
      method: 'POST',
      headers: { ...HEADERS, 'x-api-key': key },
      body: JSON.stringify({ pins: { ...pins, b: 'true' } }),
    });
    const { token } = signed.body as unknown as { token: string };
    for (const secret of [key, token]) {
      const headers = { 'x-api-key': secret };
      for (const body of ['{}', '{"i":7,"l":[1,2]}', '{"i":"007","l":["1","2"]}', '{"l":"1,2","b":true}'])
        expect((await postEvery(body, headers)).body.result).toMatchObject([{ i: 7, l: '[1,2]' }]);
      for (const body of ['{"i":8}', '{"l":[1]}', '{"l":[2,1]}', '{"l":["3","4"]}', '{"i":"x"}'])
        expectError(await postEvery(body, headers), 'forbidden');
      for (const query of ['l=3&l=4', 'l=1&l=2&l=3', 'i=8'])
        expectError(await get(url, `${EVERY_PATH}?${query}`, headers), 'forbidden');
    }
    expectError(await postEvery('{"b":"0"}', { 'x-api-key': token }), 'forbidden');
  });
});
