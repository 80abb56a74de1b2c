import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { ownService, PRIVATE_KEY, PUBLIC_KEY } from '../support/service.ts';

const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
const service = await ownService({ logger });
const { url } = service;

/** The log lines that a piece of work wrote, parsed. */
async function logOf(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const before = lines.length;
  await work();
  return lines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Where a key may be sent beside the URL: in either header, or in none. */
const placesOf = (key: string): Record<string, string>[] => [
  { 'x-api-key': key },
  { 'x-api-key': '', authorization: `Bearer ${key}` },
  { 'x-api-key': '' },
];

describe('the log', () => {
  test('has a line for each request: caller, endpoint, outcome', async () => {
    const headers = { 'x-request-id': 'req-1', 'x-forwarded-for': '203.0.113.7' };
    const path = `${QUERY_PATH}/E1B1B652-4ea8-4b47-94ba-ad2938bd0675?project=p1&interval=daily`;
    const [line, ...more] = await logOf(() => get(url, path, headers));
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      reqId: 'req-1',
      ip: '127.0.0.1', // no proxy is trusted
      method: 'GET',
      route: `${QUERY_PATH}/:endpoint`,
      status: 200,
      key: 'private',
      endpoint: 'usage.api-counts',
      cache: 'miss',
      rows: 0,
      ms: expect.any(Number),
      engine_ms: expect.any(Number),
    });
  });

  test('holds neither keys nor values of parameters, however the request ends; answers and metrics hold no key', async () => {
    const key = await service.newKey();
    const keys = [PRIVATE_KEY, PUBLIC_KEY, key, `${key}-s3cret-value`];
    const wrong = ['wrong-key-0123456789', `tr_0123456789ab_${'w'.repeat(43)}`];
    const answers: string[] = [];
    const send = async (...asked: Parameters<typeof request>) =>
      void answers.push((await request(...asked)).text);
    const written = await logOf(async () => {
      const query = 'project=s3cret-value&interval=daily&iso_timestamp_start=s3cret-value&junk=s3cret-value';
      for (const name of ['logs.all', 'usage.api-counts', 'functions.invocation-stats', 'none', '%FF']) {
        const path = `${QUERY_PATH}/${name}?${query}`;
        for (const value of keys)
          for (const headers of placesOf(value).slice(0, 2))
            await send(url, `${path}&api_key=${value}`, { headers });
        await send(url, path, { method: 'POST', body: 's3cret-value' });
      }
      await get(url, `${QUERY_PATH}/usage.api-counts?project=(s3cret-value&interval=daily`);
      await get(url, `/nowhere/s3cret-value?${query}`);
      await get(url, `${QUERY_PATH}/s3cret-value?${query}`);
      await get(url, `${QUERY_PATH}/logs.all?project=${'s3cret-value'.repeat(25_000)}`);
      await service.core.engine.command('RENAME TABLE edge_logs TO edge_logs_away');
      const failed = await get(url, `${QUERY_PATH}/logs.all?project=s3cret-value`);
      await service.core.engine.command('RENAME TABLE edge_logs_away TO edge_logs');
      expectError(failed, 'query_failed');
    });
    expect(written).toHaveLength(9 * 5 + 4);
    const paths = [`${QUERY_PATH}/logs.all`, `${QUERY_PATH}/none`];
    for (const path of [...paths, '/metrics', '/api/logs', '/v1/logs', '/nothing'])
      for (const method of ['GET', 'POST', 'PROPFIND'])
        for (const value of [...keys, ...wrong])
          for (const headers of placesOf(value))
            await send(url, `${path}?api_key=${value}`, { method, headers });
    const log = lines.join();
    expect(log).not.toContain('s3cret-value');
    const texts = [log, (await get(url, '/metrics')).text, ...answers];
    for (const value of [...keys, ...wrong]) for (const text of texts) expect(text).not.toContain(value);
  });
});

test('/metrics does not grow with what callers send', async () => {
  // Node's own series of garbage collection appear with the first collection of their kind.
  const series = async () =>
    (await get(url, '/metrics')).text.split('\n').filter((line) => line.startsWith('tailrace_')).length;
  for (const path of ['/nowhere', '/metrics']) await get(url, path);
  await get(url, `${QUERY_PATH}/nothing?project=p1`);
  const before = await series();
  for (let i = 0; i < 20; i++) {
    await get(url, `/nowhere/${i}`);
    await get(url, `${QUERY_PATH}/nothing.${i}?project=p${i}&junk${i}=1`);
  }
  expect(await series()).toBe(before);
});
