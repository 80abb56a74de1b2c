import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, readMetric } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url, clock, call } = service;

const FUNCTIONS = '3dea32a0-fb99-4b83-9c42-c900fca9aeb6';

beforeAll(async () => {
  const request = { path: '/rest/v1', url: `https://p1.example.com/${'a'.repeat(5000)}!` };
  const timestamp = new Date(clock.now - 60_000).toISOString();
  const edge = { id: 'edge', timestamp, project: 'p1', metadata: { request } };
  await storeEvents(service.core, 'cloudflare.logs.prod', [edge], clock.now);
  const metadata = {
    project_ref: 'p1',
    function_id: 'f1',
    execution_time_ms: 5,
    response: { status_code: 200 },
  };
  await storeEvents(service.core, 'deno-relay-logs', [{ timestamp, metadata }], clock.now);
});

/** That the call is refused, and which parameters the answer names. */
async function expectRefused(endpoint: string, query: string, parameters: readonly string[]) {
  const answer = await get(url, `${QUERY_PATH}/${endpoint}?${query}`);
  expectError(answer, 'invalid_parameter');
  expect(answer.body.error.errors.map((one) => ('parameter' in one ? one.parameter : undefined))).toEqual(
    parameters,
  );
  return answer.body.error;
}

describe('an endpoint', () => {
  test('is found by its UUID in any letter case, and by its name', async () => {
    for (const way of [FUNCTIONS, FUNCTIONS.toUpperCase(), 'functions.invocation-stats']) {
      expect((await call(way, { project: 'p1' })).body.result).toHaveLength(1);
    }
  });

  test.each([
    ['an unknown name', 'functions.invocation-statistics'],
    ['an unknown UUID', '3dea32a0-fb99-4b83-9c42-c900fca9aeb7'],
    ['a malformed UUID that is a legal name', '3dea32a0-fb99-4b83-9c42-c900fca9aeb'],
    ['a UUID in braces', `{${FUNCTIONS}}`],
    ['a name with NUL', 'logs.all%00'],
    ['a name with a path in it', '..%2F..%2Fetc%2Fpasswd'],
    ['a property of every object', 'constructor'],
    ['a name of 64 KiB', 'n'.repeat(65_536)],
  ])('is not found under %s', async (_name, path) => {
    expectError(await get(url, `${QUERY_PATH}/${path}?project=p1`), 'endpoint_not_found');
  });

  test('is not looked for where the path is not UTF-8', async () => {
    expectError(await get(url, `${QUERY_PATH}/%ED%A0%80`), 'invalid_request');
  });

  test.each(['', '/', '/logs.all/', '/logs.all/extra'])('is not served at the path %j', async (rest) => {
    const code = rest === '/' ? 'endpoint_not_found' : 'not_found';
    expectError(await get(url, `${QUERY_PATH}${rest}`), code);
  });
});

describe('project', () => {
  const ENDPOINTS = ['functions.invocation-stats', 'logs.all', 'usage.api-counts'];

  test.each(ENDPOINTS)('is required and must be sent once for %s', async (endpoint) => {
    const interval = endpoint === 'usage.api-counts' ? '&interval=daily' : '';
    for (const missing of ['', 'project', 'project=', 'Project=p1', 'project%00=p1']) {
      const { message } = await expectRefused(endpoint, missing + interval, ['project']);
      expect(message).toContain('required');
    }
    const { message } = await expectRefused(endpoint, `project=p1&project=p1${interval}`, ['project']);
    expect(message).toContain('2 times');
  });

  test('is told together with every other wrong parameter', async () => {
    await expectRefused('usage.api-counts', 'interval=yearly', ['project', 'interval']);
    await expectRefused('logs.all', 'iso_timestamp_start=x&iso_timestamp_end=y', [
      'project',
      'iso_timestamp_start',
      'iso_timestamp_end',
    ]);
  });
});

describe('interval', () => {
  test.each(['yearly', 'DAILY', 'daily ', '1day', ''])(
    'of usage.api-counts is refused as %j',
    async (value) => {
      const query = `project=p1&interval=${encodeURIComponent(value)}`;
      const { message } = await expectRefused('usage.api-counts', query, ['interval']);
      expect(message).toContain('hourly, minutely, daily');
    },
  );

  test('of usage.api-counts is refused where it is missing, naming the three', async () => {
    const { message } = await expectRefused('usage.api-counts', 'project=p1', ['interval']);
    expect(message).toContain('hourly, minutely, daily');
  });

  test('of functions.invocation-stats behaves as 1day for any other value, cache entry included', async () => {
    const before = await readMetric(url, 'tailrace_engine_queries_total', {
      endpoint: 'functions.invocation-stats',
    });
    const day = await call('functions.invocation-stats', {
      project: 'p1',
      function_id: 'f1',
      interval: '1day',
    });
    expect(day.body.result).toHaveLength(1);
    for (const interval of ['1DAY', '2day', 'x'.repeat(1000), '']) {
      const other = await call('functions.invocation-stats', { project: 'p1', function_id: 'f1', interval });
      expect(other.body).toEqual(day.body);
      expect(other.headers.get('cache-status')).toContain('hit');
    }
    const after = await readMetric(url, 'tailrace_engine_queries_total', {
      endpoint: 'functions.invocation-stats',
    });
    expect(after - before).toBe(1);
  });
});

describe('timestamps', () => {
  test.each(['yesterday', '2026-13-01', '2026-02-30T00:00:00Z', '1700000000', '2026-11-20T25:00:00Z'])(
    'are refused as %j',
    async (value) => {
      const { message } = await expectRefused('logs.all', `project=p1&iso_timestamp_start=${value}`, [
        'iso_timestamp_start',
      ]);
      expect(message).toContain('ISO 8601');
      await expectRefused('logs.all', `project=p1&iso_timestamp_end=${value}`, ['iso_timestamp_end']);
    },
  );

  test('that end before they start give an empty result', async () => {
    const at = (ms: number) => new Date(ms).toISOString();
    const bounds = { iso_timestamp_start: at(clock.now), iso_timestamp_end: at(clock.now - 3_600_000) };
    const answer = await call('logs.all', { project: 'p1', ...bounds });
    expect([answer.status, answer.body]).toEqual([200, { result: [] }]);
  });

  test('that are empty bound nothing', async () => {
    const answer = await call('logs.all', { project: 'p1', iso_timestamp_start: '', iso_timestamp_end: '' });
    expect(answer.body.result).toHaveLength(1);
  });
});

describe('a pattern', () => {
  test.each([
    ['(unbalanced', 'missing'],
    ['[a-', 'missing'],
    ['a)', 'unexpected'],
    ['*', 'repetition'],
    ['a\\', 'trailing'],
    ['(?<=look)behind', 'perl'],
    ['(a)\\1', 'escape'],
    ['((a{100}){100}){100}', 'repetition|large'],
  ])('that RE2 refuses is refused: %s', async (pattern, reason) => {
    // Where there are rows to match and where there are none.
    for (const interval of ['hourly', 'daily']) {
      const query = `project=${encodeURIComponent(pattern)}&interval=${interval}`;
      const { message } = await expectRefused('usage.api-counts', query, ['project']);
      expect(message).toMatch(new RegExp(reason));
    }
  });

  test.each(['(a+)+$', '(a|aa)+!?$', '(.*)*x'.repeat(20), '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'that would never end in a backtracking engine is answered: %s',
    async (project) => {
      const answer = await call('usage.api-counts', { project, interval: 'daily' });
      expect(answer.status).toBe(200);
    },
  );

  test('is a pattern: what it contains is matched, not compared', async () => {
    const count = async (project: string) =>
      (await call('usage.api-counts', { project, interval: 'daily' })).body.result.length;
    expect([await count('p1'), await count('^https://p[0-9]\\.'), await count('^p1')]).toEqual([1, 1, 0]);
  });
});

test('undeclared parameters are ignored and share the cache entry', async () => {
  const query = 'project=undeclared&interval=daily';
  expect((await get(url, `${QUERY_PATH}/usage.api-counts?${query}`)).headers.get('cache-status')).toContain(
    'miss',
  );
  for (const junk of ['&_=1', '&now=2000-01-01', '&a=1&a=2&a=3', '&__proto__=x&constructor=y', '&%FF=%FF']) {
    const answer = await get(url, `${QUERY_PATH}/usage.api-counts?${query}${junk}`);
    expect([answer.status, answer.headers.get('cache-status')]).toEqual([
      200,
      expect.stringContaining('hit'),
    ]);
  }
});
