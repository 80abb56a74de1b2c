import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { PRIVATE_KEY, PUBLIC_KEY, startTestService } from '../support/service.ts';

const lines: { level: number; msg: string }[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const [studio, plain] = await Promise.all([
  startTestService({ env: { TAILRACE_STUDIO: '1', TAILRACE_DEFAULT_TIER: 'PRO' } }),
  startTestService({ logger }),
]);
afterAll(() => Promise.all([studio.close(), plain.close()]));

async function get(url: string, key = PRIVATE_KEY) {
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  return { status: response.status, body: (await response.json()) as unknown };
}

describe('with TAILRACE_STUDIO=1', () => {
  test('the endpoints are those for Studio, with the plan of the settings', () => {
    const { endpoints } = studio.core.registry;
    const [tier] = endpoints.flatMap((one) => one.parameters.filter(({ name }) => name === 'project_tier'));
    expect(endpoints.find(({ name }) => name === 'logs.all')?.sandboxing).toBe(true);
    expect(tier).toMatchObject({ fallback: 'PRO', defaultText: 'PRO' });
  });

  test('sources are an array with ids and names', async () => {
    const { body } = await get(`${studio.url}/api/sources`);
    expect(body).toHaveLength(12);
    expect(body).toContainEqual(
      expect.objectContaining({ id: 'dca3fc05-a0a4-4270-92ac-ecfc72d28b68', name: 'cloudflare.logs.prod' }),
    );
  });

  test('log drains are an empty array, for a key alone', async () => {
    const url = `${studio.url}/api/backends?metadata[type]=log-drain`;
    expect(await get(url)).toEqual({ status: 200, body: [] });
    expect((await get(url, 'nobody-has-this-key-0123')).status).toBe(401);
    expect((await get(url, PUBLIC_KEY)).status).toBe(200);
  });
});

describe('without it', () => {
  test('sources are in an object, and there is no list of log drains', async () => {
    expect((await get(`${plain.url}/api/sources`)).body).toMatchObject({ result: { length: 12 } });
    const { status, body } = await get(`${plain.url}/api/backends?metadata[type]=log-drain`);
    expect([status, body]).toMatchObject([404, { error: { message: /TAILRACE_STUDIO=1/ } }]);
  });

  test('sql is ignored, and logged once for all requests', async () => {
    const ask = (parameters: Record<string, string>) =>
      plain.call('logs.all', { project: 'default', ...parameters });
    await ask({ sql: '' });
    expect(lines).toEqual([]);
    for (const sql of ['select 1', 'select 2']) expect((await ask({ sql })).status).toBe(200);
    expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining('set TAILRACE_STUDIO=1') }]);
  });
});
