import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { FORMAT_NAMES, type FormatName, MEDIA_TYPES, startFormatsService } from '../support/formats.ts';
import { expectError, QUERY_PATH } from '../support/http.ts';
import { comparable, createWays } from '../support/ways.ts';

const service = await startFormatsService();
const { ask } = service;
const PATH = `${QUERY_PATH}/formats.types`;
const ways = createWays(service, PATH);
afterAll(async () => {
  ways.close();
  await service.close();
});

const typeOf = async (path: string, headers?: Record<string, string>) => {
  const answer = await ask(path, headers);
  return answer.headers.get('content-type') ?? answer.status;
};

describe('a format', () => {
  test.each(FORMAT_NAMES)('%s is chosen by its name, whatever Accept says', async (name) => {
    expect(await typeOf(`formats.types?format=${name}`)).toBe(MEDIA_TYPES[name]);
    expect(await typeOf(`formats.types?format=${name}`, { accept: 'image/png' })).toBe(MEDIA_TYPES[name]);
  });

  test.each<[string, FormatName]>([
    ['application/json', 'json'],
    ['*/*', 'json'],
    ['TEXT/CSV; charset=utf-8', 'csv'],
    ['application/json;q=0.2, application/vnd.apache.arrow.stream;q=0.9, */*;q=0.1', 'arrow'],
    [
      'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      'prometheus',
    ],
  ])('is chosen by Accept: %s', async (accept, name) => {
    expect(await typeOf('formats.types', { accept })).toBe(MEDIA_TYPES[name]);
    expect(await typeOf('formats.types?format=', { accept })).toBe(MEDIA_TYPES[name]);
  });

  test.each(['text/csv; header=absent', 'text/csv;q=0'])('is not found for Accept: %s', async (accept) => {
    const answer = await ask('formats.types', { accept });
    expectError(answer, 'not_acceptable');
    const offered = Object.values(MEDIA_TYPES).map((type) => type.split(';')[0]);
    expect(answer.body.error.message).toContain(offered.join(', '));
  });
});

describe.each(FORMAT_NAMES)('an answer in %s', (name) => {
  const path = `${PATH}?count=500&format=${name}`;

  test('is kept by itself, and sent again in the same way by the listener and the framework', async () => {
    const first = await ways.ask({}, { path });
    const again = await ways.ask({}, { path });
    expect([again.byFramework, again.headers['cache-status']]).toEqual([
      false,
      expect.stringMatching(/^Tailrace; hit/),
    ]);
    expect(again.body.equals(first.body)).toBe(true);
    expect(again.headers['content-length']).toBe(String(again.body.length));
    expect(comparable(again)).toEqual(comparable(await ways.askFramework({}, { path })));
  });

  test('has its own HEAD, an ETag and 304, and a file name if it is a file', async () => {
    const { body, headers } = await ways.ask({}, { path });
    const head = await ways.ask({}, { path, method: 'HEAD' });
    expect([head.body.length, head.headers['content-length']]).toEqual([0, String(body.length)]);
    expect(headers.vary).toMatch(/\bAccept\b/);
    const known = await ways.ask({ 'if-none-match': String(headers.etag) }, { path });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    const isFile = name === 'csv' || name === 'parquet';
    expect(headers['content-disposition']).toBe(
      isFile ? `attachment; filename="formats.types.${name}"` : undefined,
    );
  });

  test('is an error in JSON if its query fails, however far it came', async () => {
    expectError(await ask(`formats.broken?format=${name}`), 'query_failed');
  });
});

describe('a large answer that is not kept', () => {
  const path = `${PATH}?count=60000&format=csv`;
  const own = { 'cache-control': 'no-store' };

  test('is sent while it comes from the engine: the same bytes, with their length, without an ETag', async () => {
    const kept = await ways.ask({}, { path });
    const { status, headers, body } = await ways.ask(own, { path });
    expect([status, headers['cache-status']]).toEqual([200, 'Tailrace; fwd=request']);
    expect(body.equals(kept.body)).toBe(true);
    expect(body.length).toBeGreaterThan(1024 * 1024);
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['content-disposition']).toBe('attachment; filename="formats.types.csv"');
    const zipped = await ways.ask({ ...own, 'accept-encoding': 'gzip' }, { path });
    expect(gunzipSync(zipped.body).equals(body)).toBe(true);
    expect([headers.etag, kept.headers.etag]).toEqual([undefined, expect.stringMatching(/^"/)]);
    const head = await ways.ask(own, { path, method: 'HEAD' });
    expect([head.body.length, head.headers['content-length']]).toEqual([0, String(body.length)]);
  });
});
