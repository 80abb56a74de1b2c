import { expect, test } from 'vitest';
import type { SenderEvent } from '../../../src/alerts/receivers/delivery.ts';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import type { Receiver } from '../../../src/alerts/receivers/receiver.ts';
import { openSender } from '../../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../../support/alert-message.ts';
import { FAILING, startFailingServer } from '../../support/failing-server.ts';
import { createMemoryOutbox } from '../../support/memory-outbox.ts';
import { startReceiver } from '../../support/receiver-server.ts';

const MESSAGES = 5;
const ENDLESS = 'answers 200 with 10 GB';
// What the two sockets of a connection hold; an answer that is read has no such bound.
const WRITTEN_MAX = 16 * 1024 ** 2;

test('messages for the others leave as if no receiver failed, and no endless answer is read', async () => {
  const outbox = createMemoryOutbox();
  const events: SenderEvent[] = [];
  const receivers: Receiver[] = [];
  const openAt = (name: string, url: string) => {
    const opened = RECEIVER_KINDS['slack']?.open({ url }, { isPrivate: true, lookup: undefined });
    if (opened !== undefined) receivers.push({ name, kind: 'slack', ...opened });
  };
  const servers = new Map<string, Awaited<ReturnType<typeof startFailingServer>>>();
  for (const way of [...FAILING, ENDLESS] as const) {
    const server = await startFailingServer(way);
    servers.set(way, server);
    openAt(way, server.url);
  }
  openAt('refuses', 'http://127.0.0.1:1/');
  const good = await startReceiver();
  openAt('good', good.url);
  const options = { outbox, receivers, now: Date.now, random: () => 0 };
  const sender = openSender({ ...options, watch: (event) => events.push(event) });
  try {
    const takes = async (names: readonly string[]) => {
      for (const name of names)
        for (let i = 0; i < MESSAGES; i++) outbox.put(name, alertMessage(), Date.now());
      const [startMs, before] = [performance.now(), good.received.length];
      sender.wake();
      await expect.poll(() => good.received.length, { interval: 5 }).toBe(before + MESSAGES);
      return performance.now() - startMs;
    };
    const aloneMs = await takes(['good']);
    // On a busy machine the same messages take longer without the others, too.
    expect(await takes(receivers.map(({ name }) => name))).toBeLessThan(Math.max(1_000, 10 * aloneMs));
    const failing = () =>
      new Set(events.filter(({ kind }) => kind === 'failed').map((event) => event.receiver));
    await expect.poll(failing).toEqual(new Set([...FAILING.filter((name) => name !== 'hangs'), 'refuses']));
    await expect.poll(() => servers.get(ENDLESS)?.connections()).toBeGreaterThan(1);
    for (const { writtenMax } of servers.values()) expect(writtenMax()).toBeLessThan(WRITTEN_MAX);
  } finally {
    await sender.close();
    for (const { close } of [...servers.values(), good]) close();
  }
});
