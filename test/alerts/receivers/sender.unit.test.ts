import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AlertMessage } from '../../../src/alerts/message.ts';
import type { Outbox, OutboxMessage } from '../../../src/alerts/outbox.ts';
import { type Outgoing, type Receiver, SendError } from '../../../src/alerts/receivers/receiver.ts';
import { createSender, type Sender, type SenderEvent } from '../../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../../support/alert.ts';

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
let outbox = createOutbox();
let firing: AlertMessage[] = [];

function open(...receivers: Receiver[]): Sender {
  const clocks = { now: Date.now, ticks: Date.now, random: () => 0 };
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
  outbox = createOutbox();
});

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('sends what is stored, in its order and once, within half a second', async () => {
  const ops = receiver('ops');
  open(ops);
  await pass(0);
  const ids = [1, 2, 3].map(() => outbox.put('ops', alertMessage(), Date.now()));
  await pass(500);
  expect(ops.sent.map(({ id }) => id)).toEqual(ids);
  await pass(10_000);
  expect(outbox.finished).toEqual(ids);
  expect(ops.sent).toHaveLength(3);
  expect(events).toMatchObject(ids.map((id) => ({ kind: 'sent', receiver: 'ops', id, tries: 1 })));
});

test('receivers that hang or fail keep no other one waiting', async () => {
  const fails = receiver('fails', () => Promise.reject(new SendError('returned 500')));
  const [hangs, good] = [receiver('hangs', hang), receiver('good')];
  open(hangs, fails, good);
  for (let count = 1; count <= 3; count++) {
    for (const { name } of [hangs, fails, good]) outbox.put(name, alertMessage(), Date.now());
    await pass(750);
    expect([hangs, fails, good].map(({ sent }) => sent.length)).toEqual([0, 0, count]);
    expect(outbox.waiting.size).toBe(2 * count);
  }
});

test('tries again with back-off and the same id, and keeps the order meanwhile', async () => {
  let isDown = true;
  const tries: Outgoing[] = [];
  const ops = receiver('ops', async (outgoing) => {
    tries.push(outgoing);
    if (isDown) throw new SendError('connect ECONNREFUSED for hunter2');
  });
  const [first, second] = [1, 2].map(() => outbox.put('ops', alertMessage(), START_MS));
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
  outbox.put('ops', alertMessage(), START_MS);
  open(ops);
  await pass(3_800_000);
  expect(tries).toEqual([0, 100, 3_700]);
});

test('a message that is rejected does not hold up the next', async () => {
  const ops = receiver('ops', async ({ message }) => {
    if (message.alert === 'bad') throw new SendError('returned 400', { isRejected: true });
    if (message.alert === 'worse') throw new TypeError('cannot be written');
  });
  for (const alert of ['bad', 'worse', 'good']) outbox.put('ops', alertMessage({ alert }), START_MS);
  open(ops);
  await pass(0);
  expect(ops.sent.map(({ id }) => id)).toEqual(['msg_3']);
  expect(outbox.waiting.size).toBe(2);
});

test('gives up after a day of tries, and goes on with the next message', async () => {
  let isDown = true;
  const ops = receiver('ops', async () => {
    if (isDown) throw new SendError('returned 500');
  });
  const id = outbox.put('ops', alertMessage(), START_MS);
  open(ops);
  await pass(DAY_MS - 600_000);
  expect(outbox.givenUp.size).toBe(0);
  const next = outbox.put('ops', alertMessage(), Date.now());
  await pass(1_300_000);
  expect([...outbox.givenUp]).toEqual([[id, 'returned 500']]);
  expect(events.filter(({ kind }) => kind === 'given_up')).toMatchObject([
    { receiver: 'ops', id, reason: 'returned 500' },
  ]);
  isDown = false;
  await pass(600_000);
  expect(ops.sent.map((one) => one.id)).toEqual([next]);
});

test('a clock that jumps ends no message that was hardly tried', async () => {
  open(receiver('ops', () => Promise.reject(new SendError('returned 500'))));
  outbox.put('ops', alertMessage(), START_MS - 100 * DAY_MS);
  await pass(60_000);
  expect(outbox.givenUp.size).toBe(0);
});

test('a message that was accepted is not sent again while the outbox cannot be written', async () => {
  const ops = receiver('ops', async () => {
    outbox.failure = new Error('connection terminated');
  });
  const id = outbox.put('ops', alertMessage(), START_MS);
  open(ops);
  await pass(30_000);
  expect(ops.sent).toHaveLength(1);
  expect(events.filter(({ kind }) => kind === 'outbox_failed')).toEqual([
    { kind: 'outbox_failed', receiver: 'ops', reason: 'connection terminated' },
  ]);
  outbox.failure = undefined;
  await pass(2_000);
  expect(ops.sent).toHaveLength(1);
  expect(outbox.finished).toEqual([id]);
});

test('closing stops the try; its message stays, and is sent with the same id after the next start', async () => {
  const id = outbox.put('ops', alertMessage(), START_MS);
  open(receiver('ops', hang));
  await pass(1_000);
  await sender?.stop();
  expect([events, outbox.waiting.get(id)?.tries]).toEqual([[], 0]);
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
  outbox.put('prometheus', alertMessage(), START_MS);
  open(Object.assign(prometheus, { resendMs: 60_000 }), receiver('ops'));
  await pass(150_000);
  const seconds = prometheus.sent.map(({ atMs }) => (atMs - START_MS) / 1_000);
  expect(seconds).toEqual([0, 0, 60, 120]);
  isDown = true;
  await pass(60_000);
  // While the receiver is down it resolves, and fires again.
  const resolved = outbox.put('prometheus', alertMessage({ status: 'resolved' }), Date.now());
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

/** An outbox without a store: what is due comes in the order of `put`. */
function createOutbox() {
  const waiting = new Map<string, OutboxMessage & { dueAtMs: number }>();
  const finished: string[] = [];
  const givenUp = new Map<string, string>();
  let created = 0;
  /** Every method rejects with `failure` while it is set. */
  const state = { failure: undefined as Error | undefined };

  const outbox: Omit<Outbox, 'findStale'> = {
    async next(receiver, nowMs) {
      check();
      return [...waiting.values()].find((one) => one.receiver === receiver && one.dueAtMs <= nowMs);
    },
    async done({ id }) {
      check();
      if (waiting.delete(id)) finished.push(id);
    },
    async again(id, dueAtMs, reason) {
      check();
      const one = waiting.get(id);
      if (one !== undefined) waiting.set(id, { ...one, tries: one.tries + 1, dueAtMs, reason });
    },
    async giveUp({ id }, reason) {
      check();
      if (waiting.delete(id)) givenUp.set(id, reason);
    },
  };

  function check(): void {
    if (state.failure !== undefined) throw state.failure;
  }

  return Object.assign(state, outbox, {
    ...{ waiting, finished, givenUp },
    put(receiver: string, message: AlertMessage, firstMs: number): string {
      const id = `msg_${++created}`;
      waiting.set(id, { id, receiver, alert: '', message, tries: 0, firstMs, reason: '', dueAtMs: firstMs });
      return id;
    },
  });
}
