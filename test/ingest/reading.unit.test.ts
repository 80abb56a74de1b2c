import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLines } from '../../src/cli/load/lines.ts';
import { readBody } from '../../src/ingest/read-body.ts';
import { cutEvents } from '../../src/ingest/wire-events.ts';
import { NDJSON, WIRES } from '../../trial/wire.ts';
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
      lines.push([line.number, line.fault === undefined ? line.text : undefined]);
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
  const limits = { bodyBytesMax: 1000 };
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

  test('is rejected at once if it becomes too large, although its client sends no more', async () => {
    const request = new PassThrough();
    const body = read(request);
    request.write(gzipSync(Buffer.alloc(5_000)));
    await expect(body).rejects.toThrow('the body is larger than 4000 bytes when decompressed');
  });
});

describe.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('a body of frames of %s, one after the other,', (encoding, compress) => {
  const limits = { bodyBytesMax: 1_000_000 };
  const read = async (body: Buffer, chunkBytes = body.length) => {
    const stream = new PassThrough();
    for (let at = 0; at < body.length; at += chunkBytes) stream.write(body.subarray(at, at + chunkBytes));
    stream.end();
    return (await readBody(stream, { encoding, length: Number.NaN }, limits)).toString();
  };
  const join = (...texts: string[]) => Buffer.concat(texts.map((text) => compress(text)));
  const repeat = (count: number, frame: Buffer) => Buffer.concat(Array<Buffer>(count).fill(frame));
  const long = Array.from({ length: 7_000 }, (_, i) => Math.sin(i)).join('');
  const longFrame = compress(long);

  test('is read to its end, whatever its chunks are', async () => {
    const skipped = encoding === 'zstd' ? Buffer.from('502a4d1803000000616263', 'hex') : Buffer.alloc(0);
    const small = Buffer.concat([
      ...[skipped, join('[', '', 'first,', ''), skipped, join('second', ']', ''), skipped],
    ]);
    for (let bytes = 1; bytes <= small.length; bytes++)
      expect(await read(small, bytes)).toBe('[first,second]');
    for (const bytes of [15 * longFrame.length, 65_536, longFrame.length])
      expect((await read(repeat(15, longFrame), bytes)) === long.repeat(15)).toBe(true);
  });

  test('is rejected if it is cut, something else, or has anything left over, wherever the chunks end', async () => {
    const whole = `the body is not valid ${encoding}, or ends too soon`;
    for (const body of [Buffer.from('[{"id":"1"}]'), longFrame.subarray(0, 1), longFrame.subarray(0, -1)])
      await expect(read(body)).rejects.toThrow(whole);
    const first = join('first');
    const second = join('second');
    const cut = Array.from({ length: second.length - 1 }, (_, i) => second.subarray(0, i + 1));
    for (const rest of [Buffer.from('garbage'), Buffer.alloc(20), ...cut]) {
      const body = Buffer.concat([first, rest]);
      for (const bytes of [first.length, 3]) await expect(read(body, bytes)).rejects.toThrow(whole);
      const place = `: ${rest.length} bytes are left over after ${first.length} that are whole`;
      await expect(read(body)).rejects.toThrow(encoding === 'gzip' ? whole : whole + place);
    }
  });

  test('is bounded in all its frames together', async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `GET /${i} ${'of a log '.repeat(5)}`).join();
    const body = repeat(3, compress(lines));
    await expect(read(body)).rejects.toThrow('the body is larger than 4000000 bytes when decompressed');
    const blank = compress(Buffer.alloc(3_999_999, ' '));
    await expect(read(blank)).rejects.toThrow('the body decompresses to more than 200 times its size');
    const frames = read(repeat(1_001, join('')));
    if (encoding === 'gzip')
      await expect(frames).resolves.toBe(''); // its members take no time
    else await expect(frames).rejects.toThrow(`the body has more than 1000 frames of ${encoding}`);
  });
});

describe('a byte order mark', () => {
  const cut = (bytes: Buffer, format: (typeof NDJSON)['format']) => {
    const { events } = cutEvents(bytes, format, { decodedBytesMax: 1_000_000 });
    return [...events].map((event) => ('line' in event ? `${event.line}` : { ...event, decoded: undefined }));
  };
  const marked = (bytes: Buffer) => Buffer.concat([Buffer.from('\ufeff'), bytes]);
  const one = { id: 'é', timeMs: 1, project: 'p', message: '\ufeff', metadata: {} };
  const json = { format: 'json', write: JSON.stringify } as const;

  test.each([...Object.values(WIRES), NDJSON, json])(
    'is no part of a body of $format',
    ({ format, write }) => {
      const body = Buffer.from(write([one, one]));
      expect(cut(marked(body), format)).toEqual(cut(body, format));
    },
  );

  test('is a byte as others in protobuf', () => {
    for (const format of ['otlp-protobuf', 'loki-protobuf'] as const)
      expect(() => cut(marked(Buffer.alloc(0)), format)).toThrow('the body is not');
  });
});
