import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ env: { TAILRACE_CONNECTIONS_MAX: '3' } });
const open: Socket[] = [];
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await service.close();
});

test.each([
  ['whose repetitions multiply', '(?:(.*)(.*)(.*)(.*)(.*)){1000}'],
  ['whose classes are large', '(?:\\pL\\PN{0,9}){30}~'],
])('a pattern %s is refused before it can hold a reader', async (_, project) => {
  const { status, body } = await service.call('usage.api-counts', { project, interval: 'daily' });
  expect([status, body.error.code]).toEqual([400, 'invalid_parameter']);
  expect(body.error.message).toMatch(/^project is too large a pattern/);
});

test('a connection beyond the bound is closed, the others stay', async () => {
  const { port } = new URL(service.url);
  const dial = async () => {
    const socket = connect(Number(port), '127.0.0.1');
    open.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  // One is the kept-alive connection of the first test, if it is still there.
  const sockets = [await dial(), await dial(), await dial(), await dial()];
  const last = sockets.at(-1);
  if (last !== undefined && !last.closed) await once(last, 'close');
  expect(sockets[0]?.closed).toBe(false);
});
