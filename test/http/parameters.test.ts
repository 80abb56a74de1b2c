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
    ['a name with NUL', 'logs.all%00'],
    ['a name with a path in it', '..%2F..%2Fetc%2Fpasswd'],
    ['a property of every object', 'constructor'],
  ])('is not found under %s', async (_name, path) => {
    expectError(await get(url, `${QUERY_PATH}/${path}?project=p1`), 'endpoint_not_found');
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
});

describe('interval', () => {
  test.each(['DAILY', '1day', ''])('of usage.api-counts is refused as %j', async (value) => {
    const query = `project=p1&interval=${encodeURIComponent(value)}`;
    const { message } = await expectRefused('usage.api-counts', query, ['interval']);
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
  test.each(['yesterday', '2026-02-30T00:00:00Z'])('are refused as %j', async (value) => {
    const { message } = await expectRefused('logs.all', `project=p1&iso_timestamp_start=${value}`, [
      'iso_timestamp_start',
    ]);
    expect(message).toContain('ISO 8601');
    await expectRefused('logs.all', `project=p1&iso_timestamp_end=${value}`, ['iso_timestamp_end']);
  });
});

describe('a pattern', () => {
  test.each([
    ['(unbalanced', 'missing'],
    ['a\\', 'trailing'],
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
});
