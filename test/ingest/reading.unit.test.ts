import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLines } from '../../src/ingest/lines.ts';
import { readBody } from '../../src/ingest/read-body.ts';
import { runs } from '../support/property.ts';

describe('the lines of a stream', () => {
  async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
    let at = 0;
    for (const size of sizes) {
      yield bytes.subarray(at, at + size);
      at += size;
    }
    yield bytes.subarray(at);
  }

  async function linesOf(text: string, bytesMax = 1000, sizes: readonly number[] = []) {
    const lines: [number, string | undefined][] = [];
    for await (const line of readLines(chunked(Buffer.from(text), sizes), bytesMax))
      lines.push([line.number, line.bytes?.toString()]);
    return lines;
  }

  test.each<[string, [number, string][]]>([
    ['\n\n', []],
    ['\ufeffa', [[1, 'a']]], // a byte order mark, as some editors write it
    ['a\u2028b\u0085c\n', [[1, 'a\u2028b\u0085c']]],
  ])('of %j have their numbers', async (text, lines) => expect(await linesOf(text)).toEqual(lines));

  test('do not depend on where the stream is cut; those that are too long are without their bytes', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '\n', '\r\n', ' ', 'x'.repeat(12), '😀'))
      .map((parts) => parts.join(''));
    const property = fc.asyncProperty(text, fc.array(fc.nat(10)), async (all, sizes) => {
      const expected = all.split('\n').flatMap((line, i): [number, string | undefined][] => {
        if (Buffer.byteLength(line) > 20) return [[i + 1, undefined]];
        return /^[ \t\r]*$/.test(line) ? [] : [[i + 1, line]];
      });
      expect(await linesOf(all, 20, sizes)).toEqual(expected);
    });
    await fc.assert(property, runs(1000));
  });
});

describe('a compressed body', () => {
  const limits = { bodyBytesMax: 1000, decodedBytesMax: 1000, ratioMax: 100 };
  const read = (request: PassThrough) => readBody(request, { encoding: 'gzip', length: Number.NaN }, limits);

  test('is read whole if its request closes before the decoder has ended', async () => {
    const request = new PassThrough();
    const closed = once(request, 'close');
    const body = read(request);
    request.end(gzipSync('[{"project":"p"}]'));
    await closed;
    expect((await body).toString()).toBe('[{"project":"p"}]');
  });

  test('is rejected if its client goes away in the middle', async () => {
    const request = new PassThrough();
    const body = read(request);
    request.write(gzipSync('[{"project":"p"}]').subarray(0, 12));
    request.destroy();
    await expect(body).rejects.toThrow('the body did not arrive whole');
  });
});
