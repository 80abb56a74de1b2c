import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBody } from '../../src/ingest/read-body.ts';

const LIMITS = { bodyBytesMax: 1000, decodedBytesMax: 1000, ratioMax: 100 };

test('reads a compressed body whole whose request closes before the decoder has ended', async () => {
  const request = new PassThrough();
  const closed = once(request, 'close');
  const body = readBody(request, { encoding: 'gzip', length: Number.NaN }, LIMITS);
  request.end(gzipSync('[{"project":"p"}]'));
  await closed;
  expect((await body).toString()).toBe('[{"project":"p"}]');
});

test('refuses a compressed body whose client goes away in the middle', async () => {
  const request = new PassThrough();
  const body = readBody(request, { encoding: 'gzip', length: Number.NaN }, LIMITS);
  request.write(gzipSync('[{"project":"p"}]').subarray(0, 12));
  request.destroy();
  await expect(body).rejects.toThrow('the body did not arrive whole');
});
