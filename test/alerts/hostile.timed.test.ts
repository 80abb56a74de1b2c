import { afterAll, expect, test } from 'vitest';
import { RECEIVER_KINDS } from '../../src/alerts/receivers/kinds.ts';
import type { Receiver } from '../../src/alerts/receivers/receiver.ts';
import { createSender } from '../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../support/alert.ts';
import { createMemoryOutbox } from '../support/memory-outbox.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';

const MESSAGES = 10;
const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const servers: ReceiverServer[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

type Respond = NonNullable<Parameters<typeof startReceiver>[0]>;
const HOSTILE: Readonly<Record<string, Respond>> = {
  hangs: () => {},
  fails: (_, response) => response.writeHead(500).end(),
  redirects: (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  closes: (request) => request.socket.destroy(),
  'never ends': (_, response) => {
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.writeHead(500).on('drain', write);
    write();
  },
};

async function openReceiver(name: string, respond?: Respond): Promise<Receiver & { server: ReceiverServer }> {
  const server = await startReceiver(respond);
  servers.push(server);
  const connector = { isPrivate: true, lookup: undefined };
  const opened = RECEIVER_KINDS['webhook']?.open({ url: server.url, secret: SECRET }, connector);
  if (opened === undefined) throw new Error('no such kind');
  return { name, kind: 'webhook', version: '', server, ...opened };
}

test('receivers that hang, fail, redirect, close early or never end keep no other one waiting for a second', async () => {
  const outbox = createMemoryOutbox();
  const hostile = await Promise.all(Object.entries(HOSTILE).map((one) => openReceiver(...one)));
  const good = await openReceiver('good');
  const all = [...hostile, good];
  const clocks = { now: Date.now, ticks: () => performance.now(), random: () => 0 };
  const options = {
    ...clocks,
    outbox,
    receivers: () => new Map(all.map((one) => [one.name, one])),
    listFiring: async () => [],
    watch: () => {},
  };
  const sender = createSender(options);
  const ticking = setInterval(sender.tick, 250);
  const waits: number[] = [];
  for (let count = 1; count <= MESSAGES; count++) {
    for (const { name } of all) outbox.put(name, alertMessage(), Date.now());
    const putMs = performance.now();
    await expect.poll(() => good.server.received.length, { interval: 10 }).toBe(count);
    waits.push(performance.now() - putMs);
  }
  clearInterval(ticking);
  await sender.stop();
  expect(Math.max(...waits)).toBeLessThan(1_000);
  expect(hostile.filter(({ server }) => server.received.length === 0)).toEqual([]);
  expect(outbox.waiting.size).toBe(hostile.length * MESSAGES);
});
