import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url, clock } = service;

const SQL_WORDS = `' OR 1=1; DROP TABLE edge_logs; -- /* */ "\`$$ @now {p:String} \\' \\`;

/** As they stand in the query string. */
const VALUES = {
  'SQL metacharacters': encodeURIComponent(SQL_WORDS),
  'a backslash': '%5C',
  NUL: 'a%00b',
  'a lone surrogate': '%ED%A0%80',
  'a broken escape': '%',
  'letters beyond the first plane': encodeURIComponent('𝒯ail🏞race'),
  '64 KiB': 'a'.repeat(65_536),
  'two bytes more than 64 KiB in 32,769 letters': '%C3%A9'.repeat(32_769),
} as const;

const TOO_LONG: readonly string[] = [
  'two bytes more than 64 KiB in 32,769 letters',
] satisfies (keyof typeof VALUES)[];

/** Patterns that RE2 refuses: a backslash at the end, and what is too large to be compiled. */
const BAD_PATTERNS: readonly string[] = [
  'SQL metacharacters',
  'a backslash',
] satisfies (keyof typeof VALUES)[];

/** Every parameter of every endpoint, the other parameters that the call needs, and which values are refused. */
const PARAMETERS: [endpoint: string, parameter: string, others: string, refused: readonly string[]][] = [
  ['functions.invocation-stats', 'project', '', TOO_LONG],
  ['functions.invocation-stats', 'function_id', 'project=p1', TOO_LONG],
  ['functions.invocation-stats', 'interval', 'project=p1', TOO_LONG],
  ['logs.all', 'project', '', TOO_LONG],
  ['logs.all', 'project_tier', 'project=p1', TOO_LONG],
  ['logs.all', 'iso_timestamp_start', 'project=p1', Object.keys(VALUES)],
  ['logs.all', 'iso_timestamp_end', 'project=p1', Object.keys(VALUES)],
  ['usage.api-counts', 'project', 'interval=daily', [...TOO_LONG, ...BAD_PATTERNS]],
  ['usage.api-counts', 'interval', 'project=p1', Object.keys(VALUES)],
];

beforeAll(async () => {
  const timestamp = new Date(clock.now - 60_000).toISOString();
  const request = { path: '/rest/v1', url: 'https://p1.example.com/rest/v1' };
  const edge = { id: 'edge', timestamp, project: 'p1', metadata: { request } };
  await storeEvents(service.core, 'cloudflare.logs.prod', [edge], clock.now);
});

describe.each(PARAMETERS)('%s: %s', (endpoint, parameter, others, refused) => {
  test.each(Object.entries(VALUES))('takes or refuses %s as a value, never as SQL', async (what, value) => {
    const answer = await get(url, `${QUERY_PATH}/${endpoint}?${parameter}=${value}&${others}`);
    if (refused.includes(what)) {
      expectError(answer, 'invalid_parameter');
      expect(answer.body.error.errors).toEqual([{ parameter, message: expect.any(String) }]);
    } else {
      expect(answer.status).toBe(200);
      // Only what the other parameters alone would give: a value that is no project's name finds nothing.
      if (parameter === 'project') expect(answer.body.result).toEqual([]);
    }
  });
});

test.each(Object.entries(VALUES))('an undeclared parameter may hold %s', async (_what, value) => {
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=p1&junk=${value}&${value.slice(0, 1000)}=x`);
  expect([answer.status, answer.body.result.length]).toEqual([200, 1]);
});

test.each([
  ['a quote', `o'brien`],
  ['SQL', SQL_WORDS],
  ['NUL', 'a\0b'],
  ['letters beyond the first plane', '𝒯ail🏞race'],
  ['64 KiB', 'é'.repeat(32_768)],
])('a project whose name is %s gets its own entries and no others', async (_what, project) => {
  const timestamp = new Date(clock.now - 1000).toISOString();
  await storeEvents(service.core, 'cloudflare.logs.prod', [{ id: 'own', timestamp, project }], clock.now);
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=${encodeURIComponent(project)}`);
  expect(answer.body.result.map((row) => row['id'])).toEqual(['own']);
});
