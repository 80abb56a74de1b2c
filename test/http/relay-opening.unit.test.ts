import { expect, test } from 'vitest';
import { readOpening, writeOpening } from '../../src/http/relay/accept.ts';

const SECRET = 'ab'.repeat(32);
const PEER = { address: '2001:db8::1%eth0', port: 65_535 };

test('an opening has the address of the client, and ends before the first byte that the client has sent', () => {
  const line = writeOpening(SECRET, PEER);
  expect(readOpening(Buffer.from(`${line}GET / HTTP/1.1\r\n`), SECRET)).toEqual({
    peer: PEER,
    bytes: line.length,
  });
});

test.each<[string, string]>([
  ['another secret', `${'cd'.repeat(32)} 127.0.0.1 1\n`],
  ['a part of the secret', `${SECRET.slice(1)} 127.0.0.1 1\n`],
  ['letters beyond ASCII of the same number', `${'é'.repeat(64)} 127.0.0.1 1\n`],
  ['no end', `${SECRET} 127.0.0.1 1`],
  ['a port that is not a number', `${SECRET} 127.0.0.1 1e3\n`],
  ['too many bytes', `${SECRET} ${'1'.repeat(200)} 1\n`],
])('%s is not an opening', (_, text) => {
  expect(readOpening(Buffer.from(text), SECRET)).toBeUndefined();
});
