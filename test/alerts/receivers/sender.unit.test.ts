import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AlertMessage } from '../../../src/alerts/message.ts';
import { createOutbox } from '../../../src/alerts/outbox.ts';
import { type Outgoing, type Receiver, SendError } from '../../../src/alerts/receivers/receiver.ts';
import { createSender, type Sender, type SenderEvent } from '../../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../../support/alert.ts';
import { createMemoryAlerts } from '../../support/alert-store.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 10, 20, 12);

type Respond = (outgoing: Outgoing, signal: AbortSignal) => Promise<void>;
const hang: Respond = (_, signal) =>
  new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

function receiver(name: string, respond: Respond = async () => {}) {
  const sent: { id: string; status: AlertMessage['status']; paths: string[]; atMs: number }[] = [];
  const made: Receiver = {
    name,
    ...{ kind: 'webhook', version: '1' },
    secrets: ['hunter2'],
    async send(outgoing, signal) {
      await respond(outgoing, signal);
      const { id, message, sentAtMs } = outgoing;
      const paths = message.instances.map(({ labels }) => labels['path'] ?? '');
      sent.push({ id, status: message.status, paths, atMs: sentAtMs });
    },
  };
  return { ...made, sent };
}

let sender: Sender | undefined;
const events: SenderEvent[] = [];
let world = createMemoryAlerts();
let created = 0;
let firing: AlertMessage[] = [];

function open(...receivers: Receiver[]): Sender {
  const clocks = { now: Date.now, ticks: Date.now, random: () => 0 };
  const outbox = createOutbox(world.store, Date.now);
  const options = { ...clocks, outbox, listFiring: async () => firing };
  const byName = new Map(receivers.map((one) => [one.name, one]));
  const opened = createSender({ ...options, receivers: () => byName, watch: (event) => events.push(event) });
  sender = opened;
  const again = (): void => {
    if (sender !== opened) return;
    opened.tick();
    setTimeout(again, 250);
  };
  again();
  return opened;
}

afterEach(async () => {
  const ended = sender;
  sender = undefined;
  await ended?.stop();
  vi.useRealTimers();
  events.length = 0;
  firing = [];
  world = createMemoryAlerts();
  created = 0;
});

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('sends what is stored, in its order and once, within half a second', async () => {
  const ops = receiver('ops');
  open(ops);
  await pass(0);
  const ids = [1, 2, 3].map(() => put('ops', alertMessage(), Date.now()));
  await pass(500);
  expect(ops.sent.map(({ id }) => id)).toEqual(ids);
  await pass(10_000);
  expect(await waiting()).toEqual([]);
  expect(ops.sent).toHaveLength(3);
  expect(events).toMatchObject(ids.map((id) => ({ kind: 'sent', receiver: 'ops', id, tries: 1 })));
});

test('receivers that hang or fail keep no other one waiting', async () => {
  const fails = receiver('fails', () => Promise.reject(new SendError('returned 500')));
  const [hangs, good] = [receiver('hangs', hang), receiver('good')];
  open(hangs, fails, good);
  for (let count = 1; count <= 3; count++) {
    for (const { name } of [hangs, fails, good]) put(name, alertMessage(), Date.now());
    await pass(750);
    expect([hangs, fails, good].map(({ sent }) => sent.length)).toEqual([0, 0, count]);
    const left = await Promise.all(['hangs', 'fails', 'good'].map(waiting));
    expect(left.map(({ length }) => length)).toEqual([count, count, 0]);
  }
});

test('tries again with back-off and the same id, and keeps the order meanwhile', async () => {
  let isDown = true;
  const tries: Outgoing[] = [];
  const ops = receiver('ops', async (outgoing) => {
    tries.push(outgoing);
    if (isDown) throw new SendError('connect ECONNREFUSED for hunter2');
  });
  const [first, second] = [1, 2].map(() => put('ops', alertMessage()));
  open(ops);
  await pass(120_000);
  expect(tries.map(({ id }) => id)).toEqual(Array(6).fill(first));
  expect(tries.map(({ sentAtMs }) => (sentAtMs - START_MS) / 1_000)).toEqual([0, 2, 6, 14, 30, 62]);
  expect(events.at(-1)).toMatchObject({ kind: 'failed', tries: 6, reason: 'connect ECONNREFUSED for ***' });
  isDown = false;
  await pass(60_000);
  expect(ops.sent.map(({ id }) => id)).toEqual([first, second]);
});

test('waits as long as Retry-After says, up to an hour', async () => {
  const tries: number[] = [];
  const ops = receiver('ops', async ({ sentAtMs }) => {
    tries.push((sentAtMs - START_MS) / 1_000);
    throw new SendError('returned 429', { retryAfterMs: tries.length === 1 ? 100_000 : DAY_MS });
  });
  put('ops', alertMessage());
  open(ops);
  await pass(3_800_000);
  expect(tries).toEqual([0, 100, 3_700]);
});

test('a message that is rejected does not hold up the next', async () => {
  const ops = receiver('ops', async ({ message }) => {
    if (message.alert === 'bad') throw new SendError('returned 400', { isRejected: true });
    if (message.alert === 'worse') throw new TypeError('cannot be written');
  });
  for (const alert of ['bad', 'worse', 'good']) put('ops', alertMessage({ alert }));
  open(ops);
  await pass(0);
  expect(ops.sent.map(({ id }) => id)).toEqual(['msg_3']);
  expect((await waiting()).map(({ id }) => id)).toEqual(['msg_1', 'msg_2']);
});

test('gives up after a day of tries, and goes on with the next message', async () => {
  let isDown = true;
  const ops = receiver('ops', async () => {
    if (isDown) throw new SendError('returned 500');
  });
  const id = put('ops', alertMessage());
  open(ops);
  await pass(DAY_MS - 600_000);
  expect(await waiting()).toHaveLength(1);
  const next = put('ops', alertMessage(), Date.now());
  await pass(1_300_000);
  expect((await waiting()).map((one) => one.id)).toEqual([next]);
  expect(events.filter(({ kind }) => kind === 'given_up')).toMatchObject([
    { receiver: 'ops', id, reason: 'returned 500' },
  ]);
  isDown = false;
  await pass(600_000);
  expect(ops.sent.map((one) => one.id)).toEqual([next]);
});

test('a clock that jumps ends no message that was hardly tried', async () => {
  open(receiver('ops', () => Promise.reject(new SendError('returned 500'))));
  put('ops', alertMessage(), START_MS - 100 * DAY_MS);
  await pass(60_000);
  expect(await waiting()).toHaveLength(1);
});

test('a message that was accepted is not sent again while the outbox cannot be written', async () => {
  const ops = receiver('ops', async () => {
    world.state.failure = new Error('connection terminated');
  });
  put('ops', alertMessage());
  open(ops);
  await pass(30_000);
  expect(ops.sent).toHaveLength(1);
  expect(events.filter(({ kind }) => kind === 'outbox_failed')).toEqual([
    { kind: 'outbox_failed', receiver: 'ops', reason: 'connection terminated' },
  ]);
  world.state.failure = undefined;
  await pass(2_000);
  expect(ops.sent).toHaveLength(1);
  expect(await waiting()).toEqual([]);
});

test('closing stops the try; its message stays, and is sent with the same id after the next start', async () => {
  const id = put('ops', alertMessage());
  open(receiver('ops', hang));
  await pass(1_000);
  await sender?.stop();
  expect([events, (await waiting())[0]?.tries]).toEqual([[], 0]);
  const ops = receiver('ops');
  open(ops);
  await pass(0);
  expect(ops.sent.map((one) => one.id)).toEqual([id]);
});

test('sends again what fires to a receiver that forgets it, and nothing older than the last message', async () => {
  let isDown = false;
  const prometheus = receiver('prometheus', async () => {
    if (isDown) throw new SendError('returned 503');
  });
  firing = [alertMessage()];
  put('prometheus', alertMessage());
  open(Object.assign(prometheus, { resendMs: 60_000 }), receiver('ops'));
  await pass(150_000);
  const seconds = prometheus.sent.map(({ atMs }) => (atMs - START_MS) / 1_000);
  expect(seconds).toEqual([0, 0, 60, 120]);
  isDown = true;
  await pass(60_000);
  // While the receiver is down it resolves, and fires again.
  const resolved = put('prometheus', alertMessage({ status: 'resolved' }), Date.now());
  await pass(60_000);
  isDown = false;
  await pass(300_000);
  const after = prometheus.sent.slice(seconds.length);
  expect(after.slice(0, 2)).toMatchObject([{ id: resolved, status: 'resolved' }, { status: 'firing' }]);
  expect(after.filter(({ status }) => status === 'resolved')).toHaveLength(1);
  expect(events.filter(({ kind }) => kind === 'failed')[0]).toMatchObject({
    reason: 'returned 503',
    tries: 1,
  });
});

/** Adds a message to the outbox. @returns its id */
function put(receiver: string, message: AlertMessage, firstMs = START_MS): string {
  const id = `msg_${++created}`;
  void world.store.addMessage({ id, alert: 'a', receiver, message: JSON.stringify(message) }, firstMs);
  return id;
}

/** The messages that a receiver has not been sent. */
const waiting = (receiver = 'ops') => world.store.listMessages(receiver, 'a');
