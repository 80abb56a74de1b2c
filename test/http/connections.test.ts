import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const PROXY = '127.0.0.9';
const service = await startTestService({
  env: {
    TAILRACE_CONNECTIONS_MAX: '4',
    TAILRACE_CONNECTIONS_PER_ADDRESS_MAX: '3',
    TAILRACE_TRUST_PROXY: PROXY,
  },
});
afterAll(service.close);

const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    const closed = socket.closed ? undefined : once(socket, 'close');
    socket.destroy();
    await closed;
  }
});

const KEYLESS = '/health';
const WITH_KEY = `${QUERY_PATH}/usage.api-counts?project=p1&interval=hourly`;

/** Not over its own connection, which would be counted. */
async function closedFor(reason: string): Promise<number> {
  const headers = { 'x-api-key': PRIVATE_KEY };
  const { body } = await service.service.app.inject({ url: '/metrics', headers });
  return Number(new RegExp(`tailrace_connections_closed_total{reason="${reason}"} (\\d+)`).exec(body)?.[1]);
}

/** A connection from an address of this machine, once it is open or closed. */
async function dial(localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.on('error', () => {});
  socket.resume(); // or it would not see the end
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
  return socket;
}

/** The status of a response; `undefined` if the connection is closed instead. */
async function ask(socket: Socket, path: string, key = PRIVATE_KEY): Promise<number | undefined> {
  if (socket.closed) return undefined;
  const answer = Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\n\r\n`);
  const [data] = await answer;
  return Buffer.isBuffer(data) ? Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]) : undefined;
}

test('connections are bounded for each address, and others go on being served', async () => {
  const before = await closedFor('address');
  for (let i = 0; i < 3; i++) expect(await ask(await dial('127.0.0.1'), KEYLESS)).toBe(200);
  expect(await ask(await dial('127.0.0.1'), KEYLESS)).toBeUndefined();
  expect(await closedFor('address')).toBe(before + 1);
  expect(await ask(await dial('127.0.0.2'), WITH_KEY)).toBe(200);
});

test('at the total, the connection idle for longest without a valid key makes room, also in mid-request', async () => {
  const [first, partial, keyed] = [await dial('127.0.0.1'), await dial('127.0.0.1'), await dial('127.0.0.1')];
  expect(await ask(first, KEYLESS)).toBe(200);
  // Answered once all of it has arrived, which is later over a listener process.
  const answered = once(partial, 'data');
  partial.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nX-Slow: ');
  await answered;
  expect(await ask(keyed, WITH_KEY)).toBe(200);
  const second = await dial('127.0.0.2');
  expect(await ask(first, KEYLESS)).toBe(200); // so that `partial` is idle for longer
  expect(await ask(second, WITH_KEY)).toBe(200);
  expect(await ask(await dial('127.0.0.3'), WITH_KEY)).toBe(200);
  if (!partial.closed) await once(partial, 'close');
  expect(await ask(await dial('127.0.0.4'), WITH_KEY)).toBe(200);
  expect(await ask(first, KEYLESS)).toBeUndefined();
  // Now each has had a valid key: whoever comes next is the one that finds no room.
  expect(await ask(await dial('127.0.0.5'), WITH_KEY)).toBeUndefined();
  expect(await ask(keyed, WITH_KEY)).toBe(200);
});

test('a connection with a wrong key is as idle as one without; a trusted proxy has only the total as its bound', async () => {
  const wrong = await dial(PROXY);
  expect(await ask(wrong, WITH_KEY, 'wrong')).toBe(401);
  for (let i = 0; i < 4; i++) expect(await ask(await dial(PROXY), WITH_KEY)).toBe(200);
  if (!wrong.closed) await once(wrong, 'close');
});
