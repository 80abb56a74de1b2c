import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { findListeners } from '../../trial/server.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { get, readMetric } from '../support/http.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const env = {
  TAILRACE_DATA_DIR: `${folder.path}/data`,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_LISTENERS: '2',
};
afterEach(endLeftProcesses);
afterAll(folder.remove);

type Service = Awaited<ReturnType<typeof startServe>>;

/** The listener processes of a service. */
const listenersOf = ({ child }: Service) => findListeners(Number(child.pid));

/** An open connection that has sent the first half of a request. */
async function halfRequest(url: string): Promise<{ socket: Socket; finish: () => Promise<string> }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.write('GET /health HTTP/1.1\r\n');
  return {
    socket,
    async finish() {
      socket.write('Host: h\r\nConnection: close\r\n\r\n');
      return (await socket.toArray()).join('');
    },
  };
}

/** Enough connections that each listener process has some: the kernel chooses by their ports. */
const CONNECTIONS = 32;

test('a listener process that is killed takes only its own connections with it, and another follows', async () => {
  const service = await startServe(env);
  const [killed = 0, other] = await vi.waitFor(() => {
    const pids = listenersOf(service);
    expect(pids).toHaveLength(2);
    return pids;
  });
  const halves = await Promise.all(Array.from({ length: CONNECTIONS }, () => halfRequest(service.url)));
  const headers = { 'x-api-key': PRIVATE_KEY };
  await vi.waitFor(async () =>
    expect(await readMetric(service.url, 'tailrace_connections_open', {})).toBeGreaterThan(CONNECTIONS),
  );
  process.kill(killed, 'SIGKILL');
  await service.waitFor(/a listener process ended and is started again/);
  const answers = await Promise.all(halves.map(({ finish }) => finish().catch(() => '')));
  const served = answers.filter((text) => text.startsWith('HTTP/1.1 200 OK'));
  expect(answers.filter((text) => text === '').length + served.length).toBe(CONNECTIONS);
  expect(served.length).toBeGreaterThan(0);
  expect(served.length).toBeLessThan(CONNECTIONS);
  await vi.waitFor(() => {
    const pids = listenersOf(service);
    expect(pids).toHaveLength(2);
    expect(pids).toContain(other);
    expect(pids).not.toContain(killed);
  });
  for (let i = 0; i < CONNECTIONS; i++) expect((await get(service.url, '/ready', headers)).status).toBe(200);
  expect((await service.stop()).code).toBe(0);
});
