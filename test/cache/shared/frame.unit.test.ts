import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFrames,
  FRAME_BYTES_MAX,
  MARK_BYTES,
  markOf,
  type SharedAnswer,
} from '../../../src/cache/shared/frame.ts';

const frames = createFrames(Buffer.from('secret'));
const MADE_MS = 1_763_660_000_000;

const framed = (body: Buffer | string): SharedAnswer => ({
  answer: {
    body: Buffer.from(body),
    rows: 3,
    engineMs: 12.5,
  },
  madeMs: MADE_MS,
});

async function encode(key: string, what: SharedAnswer): Promise<Buffer> {
  const bytes = await frames.encode(key, what);
  if (bytes === undefined) throw new Error('is too large');
  return bytes;
}

/** As rows come: in UTF-8. */
const toWellFormed = (texts: readonly string[]) => texts.map((text) => text.toWellFormed());

describe('a frame', () => {
  test('gives back the answer that it was made of, of any bytes', async () => {
    const answers = fc.record({
      body: fc.uint8Array({ maxLength: 5_000 }),
      rows: fc.nat(),
      engineMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      last: fc.option(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 })),
      key: fc.string({ unit: 'binary' }),
      madeMs: fc.nat(1e14),
    });
    await fc.assert(
      fc.asyncProperty(answers, async ({ key, madeMs, body, rows, engineMs, last }) => {
        const answer = { body: Buffer.from(body), rows, engineMs, ...(last && { last: toWellFormed(last) }) };
        const bytes = await encode(key, { answer, madeMs });
        expect(await frames.decode(key, bytes)).toEqual({ answer, madeMs });
        expect(bytes.toString('latin1', 0, MARK_BYTES)).toBe(markOf(madeMs));
      }),
    );
  });

  test('is none where one bit of it has changed, wherever', async () => {
    const bytes = await encode('key', framed('{"result":[]}'));
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(await frames.decode('key', changed)).toBeUndefined();
    }
  });

  test('is none where it was cut short, made longer, or made up', async () => {
    const bytes = await encode('key', framed('{"result":[]}'));
    for (let length = 0; length < bytes.length; length++)
      expect(await frames.decode('key', bytes.subarray(0, length))).toBeUndefined();
    expect(await frames.decode('key', Buffer.concat([bytes, Buffer.from([0])]))).toBeUndefined();
    expect(await frames.decode('key', randomBytes(200))).toBeUndefined();
    expect(await frames.decode('key', Buffer.alloc(FRAME_BYTES_MAX + 1))).toBeUndefined();
  });

  test('is none for another key, and with another secret', async () => {
    const bytes = await encode('key', framed('{"result":[]}'));
    expect(await frames.decode('other', bytes)).toBeUndefined();
    expect(await frames.decode('ke', bytes)).toBeUndefined();
    expect(await createFrames(Buffer.from('other')).decode('key', bytes)).toBeUndefined();
  });
});
