import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Frame, readFrames, writeFrame } from '../../../src/engine/process/frame.ts';
import { runs } from '../../support/property.ts';

/** A socket whose peer gets what is written in pieces of `sizes`, in turn. */
function createWire(sizes: readonly number[]) {
  const peer = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const chunks: Buffer[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  /** @param cut how many bytes at the end are not delivered */
  const deliver = (cut = 0) => {
    const all = Buffer.concat(chunks.splice(0));
    let rest = all.subarray(0, all.length - cut);
    for (let i = 0; rest.length > 0; i++) {
      const size = sizes[i % sizes.length] ?? 1;
      peer.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
  };
  return { socket, peer, deliver };
}

const anyFrame = fc.record({
  head: fc.jsonValue(),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.uint8Array({ minLength: 16_000, maxLength: 40_000 }),
  ),
});

test('messages come out as they were written, however the socket cuts them', async () => {
  const property = fc.asyncProperty(
    fc.array(anyFrame, { maxLength: 5 }),
    fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 1, maxLength: 6 }),
    async (frames, sizes) => {
      const { socket, peer, deliver } = createWire(sizes);
      const read: Frame<unknown>[] = [];
      readFrames(
        peer,
        (frame) => read.push(frame),
        (fault) => {
          throw fault;
        },
      );
      // In one piece, or in three.
      const pieces = (payload: Uint8Array) => [
        payload.subarray(0, 7),
        payload.subarray(7, 9),
        payload.subarray(9),
      ];
      for (const [i, { head, payload }] of frames.entries())
        writeFrame(socket, head, i % 2 === 0 ? payload : pieces(payload));
      deliver();
      await new Promise(setImmediate);
      expect(read.map(({ head }) => head)).toEqual(
        frames.map(({ head }) => JSON.parse(JSON.stringify(head))),
      );
      expect(read.map(({ payload }) => payload.toString('hex'))).toEqual(
        frames.map(({ payload }) => Buffer.from(payload).toString('hex')),
      );
    },
  );
  await fc.assert(property, runs(50));
});
