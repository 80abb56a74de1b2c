import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createReadAmbient } from '../../src/people/credential.ts';

const read = createReadAmbient({
  publicUrl: 'https://logs.example.com',
  trustProxy: '10.0.0.5',
  trustedUserHeader: 'x-forwarded-email,x-forwarded-groups',
});
const PROXY = '10.0.0.5';
const ADA = ['X-Forwarded-Email', 'ada@example.com'] as const;

/** Reads a request from an address. */
function readFrom(address: string, ...headers: readonly (readonly [string, string])[]) {
  const request = new IncomingMessage(new Socket());
  Object.defineProperty(request.socket, 'remoteAddress', { value: address });
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    request.headers[key] = [request.headers[key] ?? [], value].flat().join(', ');
    request.rawHeaders.push(name, value);
  }
  return read(Object.assign(request, { url: '/api/me?project=a' }));
}

describe('the header of a proxy that signs people in', () => {
  test('names user and groups, as UTF-8', () => {
    const ada = { kind: 'proxy', user: 'ada@example.com', groups: 'a,b', url: '/api/me?project=a' };
    expect(readFrom(PROXY, ADA, ['X-Forwarded-Groups', 'a,b'])).toEqual(ada);
    const bytes = Buffer.from('zoë').toString('latin1');
    expect(readFrom('::ffff:10.0.0.5', ['X-Forwarded-Email', bytes])).toMatchObject({ user: 'zoë' });
  });

  test.each(['10.0.0.6', '127.0.0.1', '', '::1'])(
    'does not count from %j, whatever addresses the request names',
    (address) => {
      for (const name of ['X-Forwarded-For', 'X-Real-IP', 'Forwarded'])
        expect(readFrom(address, ADA, [name, PROXY])).toEqual({ kind: 'forged' });
    },
  );

  test('counts only if it is single: a proxy may add its own to that of the client', () => {
    const forged = { kind: 'forged' };
    for (const user of ['mal@example.com', 'ada@example.com'])
      expect(readFrom(PROXY, ['x-forwarded-email', user], ADA)).toEqual(forged);
    const groups = ['a', 'platform'].map((group) => ['X-Forwarded-Groups', group] as const);
    expect(readFrom(PROXY, ADA, ...groups)).toEqual(forged);
  });
});

describe('a cookie', () => {
  const own = '__Host-tailrace=a';
  const readCookie = (cookie: string) =>
    readFrom('127.0.0.1', ['Host', 'localhost'], ['Cookie', Buffer.from(cookie).toString('latin1')]);

  test('of a service with HTTPS is that which no other host can set', () => {
    for (const cookie of [own, `theme=dark; ${own}`, `theme=dark;${own}`])
      expect(readCookie(cookie)).toMatchObject({ kind: 'session', secret: 'a' });
  });

  // Any name but `__Host-`, with bytes that browsers keep; or the own name a second time.
  test.each([
    ...['tailrace=a', 'tailrace-80=a', '__Secure-tailrace=a', '__HOST-tailrace=a', '__Host_tailrace=a'],
    ...['__Host-Http-tailrace=a', '__Host-tailrace-login=a', '__Host-tailrace[]=a', '"__Host-tailrace"=a'],
    ...['\u00a0__Host-tailrace=a', '__Host-tailrace\u00a0=a', '\u0085__Host-tailrace=a'],
    '%5F_Host-tailrace=a',
    ...[`${own}; ${own}`, `${own};__Host-tailrace=b`, `a=${own}`, `a="; b=${own}"`, `a=b, ${own}`],
  ])('of a sibling host, such as %j, does not count', (cookie) => {
    for (const sent of [cookie, `${cookie}; theme=dark`, `theme=dark; ${cookie}`])
      expect([sent, readCookie(sent)]).toEqual([sent, undefined]);
  });
});
