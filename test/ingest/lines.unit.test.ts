import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLines } from '../../src/ingest/lines.ts';
import { runs } from '../support/property.ts';

async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function linesOf(text: string | Buffer, bytesMax = 1000, sizes: readonly number[] = []) {
  const lines: [number, string | undefined][] = [];
  for await (const line of readLines(chunked(Buffer.from(text), sizes), bytesMax))
    lines.push([line.number, line.bytes?.toString()]);
  return lines;
}

describe('the lines of a stream', () => {
  test.each([
    ['', []],
    ['\n\n', []],
    ['\ufeff', []],
    [
      '\ufeffa\n\ufeffb',
      [
        [1, 'a'],
        [2, '\ufeffb'],
      ],
    ],
    ['a', [[1, 'a']]],
    ['\ufeffa', [[1, 'a']]], // a byte order mark, as some editors write it
    ['a\n', [[1, 'a']]],
    [
      'a\nb',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'a\n\n \t\r\nb\n',
      [
        [1, 'a'],
        [4, 'b'],
      ],
    ],
    [
      'a\r\nb\r\n',
      [
        [1, 'a\r'],
        [2, 'b\r'],
      ],
    ],
    ['a\u2028b\u0085c\n', [[1, 'a\u2028b\u0085c']]],
  ])('of %j have their numbers', async (text, lines) => expect(await linesOf(text)).toEqual(lines));

  test('do not depend on where the stream is cut', async () => {
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

  test('longer than allowed are told without their bytes, and the next is read', async () => {
    expect(await linesOf(`${'x'.repeat(11)}\n${'y'.repeat(10)}\n${'z'.repeat(11)}`, 10, [3, 4, 3])).toEqual([
      [1, undefined],
      [2, 'y'.repeat(10)],
      [3, undefined],
    ]);
  });
});
