import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createReadAmbient } from '../../src/people/credential.ts';

const read = createReadAmbient({
  publicUrl: 'https://logs.example.com',
  trustProxy: '10.0.0.5',
  trustedUserHeader: 'x-forwarded-email',
  trustedGroupsHeader: 'x-forwarded-groups',
});

function createRequest(address: string, ...headers: readonly (readonly [string, string])[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.defineProperty(request.socket, 'remoteAddress', { value: address });
  for (const [name, value] of headers) {
    request.headers[name.toLowerCase()] = [request.headers[name.toLowerCase()] ?? [], value]
      .flat()
      .join(', ');
    request.rawHeaders.push(name, value);
  }
  return Object.assign(request, { url: '/api/me?project=a' });
}

describe('the header of a proxy that signs people in', () => {
  test('names user and groups', () => {
    const request = createRequest(
      '10.0.0.5',
      ['X-Forwarded-Email', 'ada@example.com'],
      ['X-Forwarded-Groups', 'a,b'],
    );
    expect(read(request)).toEqual({
      kind: 'proxy',
      user: 'ada@example.com',
      groups: 'a,b',
      url: '/api/me?project=a',
    });
  });

  test('is read as UTF-8', () => {
    const bytes = Buffer.from('zoë').toString('latin1');
    expect(read(createRequest('::ffff:10.0.0.5', ['X-Forwarded-Email', bytes]))).toMatchObject({
      user: 'zoë',
    });
  });

  test('counts only from the address of a proxy, whatever addresses the request names', () => {
    const claimed = ['X-Forwarded-For', '10.0.0.5'] as const;
    for (const address of ['10.0.0.6', '127.0.0.1', '', '::1'])
      expect(read(createRequest(address, ['X-Forwarded-Email', 'ada@example.com'], claimed))).toEqual({
        kind: 'forged',
      });
  });

  test('counts only if it is single: a proxy may add its own to that of the client', () => {
    const twice = [
      ['X-Forwarded-Email', 'mal@example.com'],
      ['x-forwarded-email', 'ada@example.com'],
    ] as const;
    expect(read(createRequest('10.0.0.5', ...twice))).toEqual({ kind: 'forged' });
    const groups = [
      ['X-Forwarded-Email', 'ada@example.com'],
      ['X-Forwarded-Groups', 'a'],
      ['X-Forwarded-Groups', 'platform'],
    ] as const;
    expect(read(createRequest('10.0.0.5', ...groups))).toEqual({ kind: 'forged' });
  });

  test('is nobody without a value', () => {
    expect(read(createRequest('10.0.0.5'))).toBeUndefined();
    expect(read(createRequest('10.0.0.5', ['X-Forwarded-Email', '']))).toBeUndefined();
  });

  test('of a session over plain HTTP does not count for a service with HTTPS', () => {
    expect(
      read(createRequest('127.0.0.1', ['Host', 'localhost'], ['Cookie', 'tailrace-80=a'])),
    ).toBeUndefined();
    expect(read(createRequest('127.0.0.1', ['Cookie', '__Host-tailrace=a']))).toMatchObject({
      kind: 'session',
    });
  });
});
