import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parseIgnored } from '../../src/query/undeclared.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { runs } from '../support/property.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { createWays } from '../support/ways.ts';

const folder = await temporaryFolder();
const sql = 'SELECT toInt64(1) AS n FROM numbers(1) WHERE @project != @now';
const ids = ['a1', 'a2', 'a3'].map((end) => `a0000000-0000-4000-8000-0000000000${end}`);
for (const [i, name] of ['test.loose', 'test.strict', 'test.direct'].entries())
  await addEndpoint(folder.path, { name, id: ids[i] ?? '', sql, caching: i === 2 ? 'disabled' : 900 });
await appendFile(join(folder.path, 'test.strict/endpoint.yaml'), 'strict: true\n');
const service = await startTestService({
  env: { TAILRACE_ENDPOINTS_DIR: folder.path },
});
const { url } = service;
const NAME = 'x-ignored-parameters';
const LOOSE = `${QUERY_PATH}/test.loose`;
const ways = createWays(service, `${LOOSE}?project=p&projct=q&inte%20rval=a,b%0D%0AX-Evil:1&ünï=1&projct=r`);
afterAll(async () => {
  ways.close();
  await service.close();
  await folder.remove();
});

const IGNORED = 'projct, inte%20rval, %C3%BCn%C3%AF';

describe('parameters that are not declared', () => {
  test('are named, by the framework and ahead of it, and share the answer', async () => {
    const plain = await get(url, `${LOOSE}?project=p`);
    expect([plain.status, plain.headers.has(NAME)]).toEqual([200, false]);
    const first = await ways.ask({});
    expect([first.headers[NAME], first.headers['cache-status']]).toEqual([
      IGNORED,
      expect.stringMatching(/^Tailrace; hit/),
    ]);
    const again = await ways.ask({});
    expect([again.headers[NAME], again.byFramework]).toEqual([IGNORED, false]);
    const unchanged = await ways.ask({ 'if-none-match': String(again.headers.etag) });
    expect([unchanged.status, unchanged.headers[NAME], unchanged.byFramework]).toEqual([304, IGNORED, false]);
    expect((await ways.askFramework({})).headers[NAME]).toBe(IGNORED);
  });

  test('are named beside an error, which says what was probably meant', async () => {
    const answer = await get(url, `${LOOSE}?projct=q`);
    expectError(answer, 'invalid_parameter');
    expect(answer.headers.get(NAME)).toBe('projct');
  });

  test('of a body are named', async () => {
    const body = JSON.stringify({ project: 'p', Project: 'q', __proto__x: 'r' });
    const headers = { 'content-type': 'application/json' };
    const answer = await request(url, LOOSE, { method: 'POST', headers, body });
    expect([answer.status, answer.headers.get(NAME)]).toEqual([200, 'Project, __proto__x']);
  });

  test.each([
    ['sql', 'sql'],
    ['format=json', null],
    ['%ff', '%25ff'],
    ['api_key=x', 'api_key'],
    ['api_keyx', 'api_key%E2%80%A6'], // a key whose `=` was forgotten is not returned
  ])('%j: %s', async (query, ignored) => {
    const answer = await get(url, `${QUERY_PATH}/test.direct?project=p&${query}`);
    expect([answer.status, answer.headers.get(NAME)]).toEqual([200, ignored]);
  });

  test('of a search and of a live tail are named', async () => {
    const search = await get(url, '/api/search?surce=x&q=&cursor=&limit=1');
    expect([search.status, search.headers.get(NAME)]).toEqual([200, 'surce']);
    const opened = await fetch(`${url}/api/search?surce=x`, {
      headers: { 'x-api-key': service.config.privateKey, accept: 'text/event-stream' },
    });
    expect([opened.status, opened.headers.get(NAME)]).toEqual([200, 'surce']);
    await opened.body?.cancel();
  });

  test('of any text make one short header of plain names', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 90 }), {
          minLength: 1,
          maxLength: 14,
        }),
        async (names) => {
          const query = names.map((name) => `${encodeURIComponent(name.toWellFormed())}=1`).join('&');
          const { status, headers } = await get(url, `${QUERY_PATH}/test.direct?project=p&${query}`);
          const value = headers.get(NAME) ?? '';
          expect([status, value.length <= 1_100]).toEqual([200, true]);
          expect(value).toMatch(/^(?:[\w.!~*'()%-]+(?:, [\w.!~*'()%-]+)*)?(?:(?:, |^)\+\d+)?$/);
          const sent = new Set(names.map((name) => name.toWellFormed()));
          for (const name of parseIgnored(value).filter((one) => !one.endsWith('…')))
            expect(sent.has(name), name).toBe(true);
        },
      ),
      runs(200),
    );
  });
});

describe('a strict endpoint', () => {
  const STRICT = `${QUERY_PATH}/test.strict`;

  test('refuses them, and names those that it has', async () => {
    for (const query of ['project=p&projct=q', 'projct=q']) {
      const answer = await get(url, `${STRICT}?${query}`);
      expectError(answer, 'invalid_parameter');
      expect(answer.body.error.errors).toContainEqual({
        parameter: 'projct',
        message: 'is not known; did you mean project? known here: project, format',
      });
    }
    const { body } = await get(url, `${STRICT}?project=p&zzz=1`);
    expect(body.error.errors).toEqual([
      { parameter: 'zzz', message: 'is not known; known here: project, format' },
    ]);
  });

  test('answers requests without them, and never one with them from the cache', async () => {
    for (let i = 0; i < 2; i++) {
      expect((await get(url, `${STRICT}?project=p`)).status).toBe(200);
      expect((await get(url, `${STRICT}?project=p&format=csv`)).status).toBe(200);
      expectError(await get(url, `${STRICT}?project=p&x=`), 'invalid_parameter');
    }
  });
});
