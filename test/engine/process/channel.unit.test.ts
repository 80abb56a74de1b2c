import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { createChannel, EngineLostError } from '../../../src/engine/process/channel.ts';

/** A socket on whose other side `reply` has come. */
function createSocket(reply: Buffer): Duplex {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  socket.push(reply);
  return socket;
}

const lengths = (head: number, payload: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(head, 0);
  bytes.writeUInt32LE(payload, 4);
  return bytes;
};

test.each([
  ['lengths that nothing has', lengths(0xffff_ffff, 0xffff_ffff)],
  ['a payload beyond every limit', lengths(2, 0xffff_ffff)],
  ['a head that is not JSON', Buffer.concat([lengths(5, 0), Buffer.from('Code:')])],
  ['a head that is no reply', Buffer.concat([lengths(4, 0), Buffer.from('null')])],
])('%s close the channel and fail what waits, and nothing else', async (_, reply) => {
  const socket = createSocket(reply);
  const channel = createChannel(socket, async () => new EngineLostError());
  await expect(channel.ask({ op: 'memory' })).rejects.toThrow(EngineLostError);
  expect(socket.destroyed).toBe(true);
  await expect(channel.ask({ op: 'memory' })).rejects.toThrow(EngineLostError);
});
