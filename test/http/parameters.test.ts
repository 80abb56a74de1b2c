import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { createWays } from '../support/ways.ts';

const endpoints = await copyEndpoints();
const sql = 'SELECT toInt64(1) AS n FROM numbers(1) WHERE @project != @now';
for (const [i, name] of ['test.loose', 'test.strict'].entries())
  await addEndpoint(endpoints, { name, id: `a0000000-0000-4000-8000-00000000000${i}`, sql, caching: 900 });
await appendFile(join(endpoints, 'test.strict/endpoint.yaml'), 'strict: true\n');
const service = await ownService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints } });
const { url, clock, call, core } = service;
const LOOSE = `${QUERY_PATH}/test.loose`;
const ways = createWays(service, `${LOOSE}?project=p&projct=q&inte%20rval=a,b%0D%0AX-Evil:1&ünï=1&projct=r`);

const FUNCTIONS = '3dea32a0-fb99-4b83-9c42-c900fca9aeb6';
const timestamp = new Date(clock.now - 60_000).toISOString();
const sent = { path: '/rest/v1', url: `https://p1.example.com/${'a'.repeat(5000)}!` };
const edge = { id: 'edge', timestamp, project: 'p1', metadata: { request: sent } };
await storeEvents(core, 'cloudflare.logs.prod', [edge], clock.now);
const run = { project_ref: 'p1', function_id: 'f1', execution_time_ms: 5, response: { status_code: 200 } };
await storeEvents(core, 'deno-relay-logs', [{ timestamp, metadata: run }], clock.now);

/** Asserts that the call is rejected for these parameters. @returns the message */
async function expectRejected(path: string, parameters: readonly string[]): Promise<string> {
  const answer = await get(url, `${QUERY_PATH}/${path}`);
  expectError(answer, 'invalid_parameter');
  expect(answer.body.error.errors).toEqual(
    parameters.map((parameter) => ({ parameter, message: expect.any(String) })),
  );
  return answer.body.error.message;
}

test('an endpoint is found by its UUID in any letter case, and by its name, and by nothing else', async () => {
  for (const way of [FUNCTIONS, FUNCTIONS.toUpperCase(), 'functions.invocation-stats'])
    expect((await call(way, { project: 'p1' })).body.result).toHaveLength(1);
  for (const other of ['functions.invocation', 'logs.all%00', '..%2F..%2Fetc%2Fpasswd', 'constructor'])
    expectError(await get(url, `${QUERY_PATH}/${other}?project=p1`), 'endpoint_not_found');
  const { body } = await get(url, `${QUERY_PATH}/log.all?project=p1`);
  expect(body.error.message).toBe('no endpoint has the UUID or name "log.all"; did you mean logs.all?');
});

test('a required parameter must be sent, and once', async () => {
  for (const missing of ['', 'project', 'project=', 'Project=p1', 'project%00=p1'])
    expect(await expectRejected(`logs.all?${missing}`, ['project'])).toContain('required');
  expect(await expectRejected('logs.all?project=p1&project=p1', ['project'])).toContain('2 times');
});

test.each([
  ['usage.api-counts?project=p1&interval=DAILY', 'interval', /hourly, minutely, daily/],
  ['usage.api-counts?project=p1', 'interval', /hourly, minutely, daily/],
  ['logs.all?project=p1&iso_timestamp_start=yesterday', 'iso_timestamp_start', /ISO 8601/],
  ['logs.all?project=p1&iso_timestamp_end=2026-02-30T00:00:00Z', 'iso_timestamp_end', /ISO 8601/],
  // Patterns that RE2 rejects, if there are rows to match (hourly) and if there are none.
  ['usage.api-counts?project=(unbalanced&interval=hourly', 'project', /missing/],
  ['usage.api-counts?project=(a)%5C1&interval=daily', 'project', /escape/],
  ['usage.api-counts?project=((a{100}){100}){100}&interval=hourly', 'project', /repetition|large/],
])('%s is rejected for %s', async (path, parameter, message) => {
  expect(await expectRejected(path, [parameter])).toMatch(message);
});

/** Hostile values, as they are in the query string. */
const VALUES = {
  'SQL metacharacters': encodeURIComponent(
    `' OR 1=1; DROP TABLE edge_logs; -- /* */ "\`$$ @now {p:String} \\' \\`,
  ),
  'a backslash': '%5C',
  NUL: 'a%00b',
  'a lone surrogate': '%ED%A0%80',
  'a broken escape': '%',
  'letters beyond the first plane': encodeURIComponent('𝒯ail🏞race'),
  '64 KiB': 'a'.repeat(65_536),
  'two bytes more than 64 KiB': '%C3%A9'.repeat(32_769),
} as const;
const TOO_LONG = ['two bytes more than 64 KiB'];
// RE2 rejects a backslash at the end, and a pattern may have 4 KiB.
const NO_PATTERN = [...TOO_LONG, 'SQL metacharacters', 'a backslash', '64 KiB'];
const ALL = Object.keys(VALUES);

/** Parameters of the endpoints, the other parameters that the call needs, and which values are rejected. */
test.each<[endpoint: string, parameter: string, others: string, rejected: readonly string[]]>([
  ['functions.invocation-stats', 'project', '', TOO_LONG],
  ['functions.invocation-stats', 'function_id', 'project=p1', TOO_LONG],
  ['logs.all', 'project', '', TOO_LONG],
  ['logs.all', 'iso_timestamp_start', 'project=p1', ALL],
  ['usage.api-counts', 'project', 'interval=daily', NO_PATTERN],
  ['usage.api-counts', 'interval', 'project=p1', ALL],
])(
  'a hostile value of %s: %s is read as a value, never as SQL',
  async (endpoint, parameter, others, rejected) => {
    for (const [what, value] of Object.entries(VALUES)) {
      const path = `${endpoint}?${parameter}=${value}&${others}`;
      if (rejected.includes(what)) await expectRejected(path, [parameter]);
      else {
        const answer = await get(url, `${QUERY_PATH}/${path}`);
        expect([what, answer.status]).toEqual([what, 200]);
        if (parameter === 'project') expect(answer.body.result).toEqual([]);
      }
    }
  },
);

describe('parameters that are not declared', () => {
  const NAME = 'x-ignored-parameters';
  const IGNORED = 'projct, inte%20rval, %C3%BCn%C3%AF';

  test('are named, by the framework and ahead of it, and share the response', async () => {
    const plain = await get(url, `${LOOSE}?project=p`);
    expect([plain.status, plain.headers.has(NAME)]).toEqual([200, false]);
    const first = await ways.ask({});
    expect(first.headers[NAME]).toBe(IGNORED);
    expect(first.headers['cache-status']).toMatch(/^Tailrace; hit/);
    const unchanged = await ways.ask({ 'if-none-match': String(first.headers.etag) });
    expect([unchanged.status, unchanged.headers[NAME], unchanged.byFramework]).toEqual([304, IGNORED, false]);
    expect((await ways.askFramework({})).headers[NAME]).toBe(IGNORED);
  });

  test('are rejected by a strict endpoint, which names those that it has, also if the rest is cached', async () => {
    const strict = `${QUERY_PATH}/test.strict?project=p`;
    for (let i = 0; i < 2; i++) {
      expect((await get(url, strict)).status).toBe(200);
      const answer = await get(url, `${strict}&projct=q`);
      expectError(answer, 'invalid_parameter');
      expect(answer.body.error.errors).toEqual([
        { parameter: 'projct', message: 'is not known; did you mean project? known here: project, format' },
      ]);
    }
  });

  test.each([
    ['/api/search?q=a&sources=postgres.logs', 'sources', /^is not known; did you mean source\? known here: /],
    ['/api/search?search=timeout', 'search', /^is not known; known here: source, q, project, /],
    ['/api/search/endpoint?cursr=a', 'cursr', /^is not known/],
    ['/api/keys?limt=1', 'limt', /did you mean limit\?/],
    ['/api/overview?days=1', 'days', 'is not known; known here: none'],
  ])('are rejected by %s', async (path, parameter, message) => {
    const answer = await get(url, path);
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.errors).toEqual([{ parameter, message: expect.stringMatching(message) }]);
  });

  test.each(['/health', '/api/sources', '/auth/options'])('are ignored by %s', async (path) => {
    expect((await get(url, `${path}?anything=1`)).status).toBe(200);
  });
});
