import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { QUERY_PATH } from '../support/http.ts';
import { rowsOf } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';
import { comparable, createWays } from '../support/ways.ts';

const ORIGIN = 'https://app.example.com';
const OWN = 'tailrace-itself';
const PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;

/** What changes every response, or does more for a request than respond. */
describe.each([
  ['listed origins', `${ORIGIN},http://localhost:3000`],
  ['one listed origin', ORIGIN],
  ['every origin', '*'],
])('with %s and recorded requests the listener', (_, origins) => {
  let service: Awaited<ReturnType<typeof startTestService>>;
  let ways: ReturnType<typeof createWays>;
  beforeAll(async () => {
    const env = { TAILRACE_CORS_ORIGINS: origins, TAILRACE_RECORD_REQUESTS_AS: OWN };
    service = await startTestService({ env: { ...env, TAILRACE_TRUST_PROXY: '127.0.0.1' } });
    ways = createWays(service, PATH);
  });
  afterAll(async () => {
    ways.close();
    await service.close();
  });

  test.each([
    ['no page', {}],
    ['a page of a listed origin', { origin: ORIGIN }],
    ['a page of another origin', { origin: 'https://evil.example.com' }],
    ['a page without an origin', { origin: 'null' }],
  ])('answers %s as the framework does', async (_who, headers) => {
    await ways.ask(headers);
    const answer = await ways.ask(headers);
    expect(answer).toMatchObject({ status: 200, byFramework: false });
    expect(comparable(answer)).toEqual(comparable(await ways.askFramework(headers)));
    const unchanged = { ...headers, 'if-none-match': String(answer.headers.etag) };
    const again = await ways.ask(unchanged);
    expect(again).toMatchObject({ status: 304, byFramework: false });
    expect(comparable(again)).toEqual(comparable(await ways.askFramework(unchanged)));
  });

  test('records requests as the framework does', async () => {
    await ways.ask();
    const headers = { 'x-request-id': 'ours', 'x-forwarded-host': 'a.example, b.example' };
    expect((await ways.ask(headers)).byFramework).toBe(false);
    await ways.askFramework({ ...headers, 'x-request-id': 'theirs' });
    const find = async (id: string) => {
      const rows = await rowsOf(service.core, OWN, {
        columns: 'event_message, path, status_code, metadata',
      });
      const row = rows.find(({ metadata }) => String(metadata).includes(`"id":"${id}"`));
      const { request, response } = JSON.parse(String(row?.['metadata']));
      return { ...row, metadata: { ...request, id: '', status: response.status_code } };
    };
    await vi.waitFor(async () => expect(await find('ours')).toEqual(await find('theirs')), {
      timeout: 15_000,
    });
    expect(await find('ours')).toMatchObject({ status_code: 200, metadata: { host: 'b.example' } });
  });
});
