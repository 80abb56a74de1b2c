import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AlertMessage } from '../../../src/alerts/outbox.ts';
import type { SenderEvent } from '../../../src/alerts/receivers/delivery.ts';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import { type Outgoing, type Receiver, SendError } from '../../../src/alerts/receivers/receiver.ts';
import { openSender, type Sender, testReceiver } from '../../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../../support/alert-message.ts';
import { createMemoryOutbox } from '../../support/memory-outbox.ts';
import { startReceiver } from '../../support/receiver-server.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 10, 20, 12);

type Respond = (outgoing: Outgoing, signal: AbortSignal) => Promise<void>;

function receiver(name: string, respond: Respond = async () => {}) {
  const sent: { id: string; status: AlertMessage['status']; paths: string[]; atMs: number }[] = [];
  const made: Receiver = {
    name,
    kind: 'webhook',
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
const outbox = createMemoryOutbox();

function open(...receivers: Receiver[]): Sender {
  sender = openSender({
    outbox,
    receivers,
    now: Date.now,
    random: () => 0,
    watch: (event) => events.push(event),
  });
  return sender;
}

afterEach(async () => {
  await sender?.close();
  vi.useRealTimers();
  events.length = 0;
  outbox.clear();
});

describe('by a clock of the test', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  test('sends what is stored, in its order and once, as soon as it is woken', async () => {
    const ops = receiver('ops');
    open(ops);
    await pass(0);
    const ids = [1, 2, 3].map(() => outbox.put('ops', alertMessage(), Date.now()));
    sender?.wake('ops');
    await pass(0);
    expect(ops.sent.map(({ id }) => id)).toEqual(ids);
    await pass(10_000);
    expect(outbox.finished).toEqual(ids);
    expect(ops.sent).toHaveLength(3);
    expect(events).toMatchObject(ids.map((id) => ({ kind: 'sent', receiver: 'ops', id, tries: 1 })));
  });

  test('tries again with back-off and the same id, and keeps the order meanwhile', async () => {
    let isDown = true;
    const tries: Outgoing[] = [];
    const ops = receiver('ops', async (outgoing) => {
      tries.push(outgoing);
      if (isDown) throw new SendError('connect ECONNREFUSED for hunter2');
    });
    const [first, second] = [
      outbox.put('ops', alertMessage(), START_MS),
      outbox.put('ops', alertMessage(), START_MS),
    ];
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
    const ops = receiver('ops', async () => {
      throw new SendError('returned 500');
    });
    outbox.put('ops', alertMessage(), START_MS - 100 * DAY_MS);
    open(ops);
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
    const hanging = receiver(
      'ops',
      (_, signal) =>
        new Promise((__, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const id = outbox.put('ops', alertMessage(), START_MS);
    await pass(0);
    open(hanging);
    await pass(1_000);
    await sender?.close();
    expect(events).toEqual([]);
    expect(outbox.waiting.get(id)?.tries).toBe(0);
    const ops = receiver('ops');
    open(ops);
    await pass(0);
    expect(ops.sent.map((one) => one.id)).toEqual([id]);
  });

  describe('a receiver that forgets', () => {
    const at = (seconds: number) => (START_MS + seconds * 1_000) * 1_000;
    const about = (status: AlertMessage['status'], seconds: number, ...paths: string[]) =>
      alertMessage({
        status,
        at: at(seconds),
        instances: paths.map((path) => ({ labels: { path }, values: {} })),
      });
    const lastly = (sent: { paths: string[]; status: string }[]) =>
      sent.slice(-2).map(({ status, paths }) => `${status} ${paths}`);

    test('is sent again what fires, until it is resolved', async () => {
      const made = { ...receiver('am'), resendMs: 60_000 };
      outbox.put('am', about('firing', 0, 'a', 'b'), START_MS);
      open(made);
      await pass(179_000);
      expect(made.sent.map(({ atMs }) => (atMs - START_MS) / 1_000)).toEqual([0, 60, 120]);
      expect(events).toHaveLength(1);
      outbox.put('am', about('resolved', 179, 'a'), Date.now());
      sender?.wake();
      await pass(0);
      expect(made.sent.at(-1)).toMatchObject({ status: 'resolved', paths: ['a'] });
      await pass(61_000);
      expect(lastly(made.sent)).toEqual(['firing b', 'resolved a']);
      outbox.put('am', about('resolved', 240, 'b'), Date.now());
      await pass(600_000);
      expect(outbox.waiting.size).toBe(0);
      expect(new Set(outbox.finished).size).toBe(3);
    });

    test('gets after a restart what it got before: nothing that was resolved fires again', async () => {
      const before = { ...receiver('am'), resendMs: 60_000 };
      outbox.put('am', about('firing', 0, 'a', 'b'), START_MS);
      open(before);
      await pass(10_000);
      outbox.put('am', about('resolved', 10, 'a'), Date.now());
      await pass(10_000);
      await sender?.close();
      const after = { ...receiver('am'), resendMs: 60_000 };
      open(after);
      await pass(600_000);
      expect(after.sent.filter(({ status, paths }) => status === 'firing' && paths.includes('a'))).toEqual(
        [],
      );
      expect(after.sent.filter(({ status }) => status === 'firing').length).toBeGreaterThan(8);
      outbox.put('am', about('firing', 620, 'a'), Date.now());
      await pass(600_000);
      expect(after.sent.slice(-2).map(({ paths }) => paths)).toEqual([['b'], ['a']]);
      expect(outbox.waiting.size).toBe(2);
    });

    test('stays resolved, if what fired before a restart is read after that', async () => {
      const before = { ...receiver('am'), resendMs: 60_000 };
      outbox.put('am', about('firing', 0, 'a'), START_MS);
      open(before);
      await pass(10_000);
      await sender?.close();
      const after = { ...receiver('am'), resendMs: 60_000 };
      outbox.put('am', about('resolved', 10, 'a'), Date.now());
      open(after);
      await pass(600_000);
      expect(new Set(after.sent.map(({ status }) => status))).toEqual(new Set(['resolved']));
      expect(outbox.waiting.size).toBe(0);
    });

    test('is tried again within the time that it remembers', async () => {
      let tries = 0;
      const made = {
        ...receiver('am', async () => {
          if (++tries > 1 && tries < 40) throw new SendError('returned 500', { retryAfterMs: DAY_MS });
        }),
        resendMs: 60_000,
      };
      outbox.put('am', about('firing', 0, 'a'), START_MS);
      open(made);
      await pass(60_000 * 50);
      expect(tries).toBeGreaterThanOrEqual(40);
      expect(outbox.waiting.size).toBe(1);
      expect(outbox.givenUp.size).toBe(0);
    });
  });
});

describe('against servers that fail', () => {
  const respondWith: Record<string, (socket: Socket) => void> = {
    hangs: () => {},
    'answers 500': (socket) => socket.end('HTTP/1.1 500 Internal\r\ncontent-length: 0\r\n\r\n'),
    redirects: (socket) =>
      socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
    'closes early': (socket) => socket.destroy(),
    'closes within the headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx: '),
    'answers without an end': (socket) => {
      socket.write('HTTP/1.1 500 Internal\r\n\r\n');
      const more = () => {
        while (socket.writable && socket.write(Buffer.alloc(65_536, 'x')));
      };
      socket.on('drain', more);
      more();
    },
    'sends headers without an end': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => {
        while (socket.writable && socket.write(`a: ${'x'.repeat(1_000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    },
    'speaks another protocol': (socket) => socket.end('220 mail.example.com ESMTP\r\n'),
  };

  test('messages for the others leave within a second', async () => {
    const closing: (() => void)[] = [];
    const receivers: Receiver[] = [];
    const openAt = (name: string, url: string) => {
      const opened = RECEIVER_KINDS['slack']?.open({ url }, { isPrivate: true, lookup: undefined });
      if (opened !== undefined) receivers.push({ name, kind: 'slack', ...opened });
    };
    for (const [name, respond] of Object.entries(respondWith)) {
      const server = createServer((socket) => {
        closing.push(() => socket.destroy());
        socket.on('error', () => {}); // the sender ends the connection
        socket.once('data', () => respond(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
      closing.push(() => server.close());
      const address = server.address();
      openAt(name, `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
    }
    openAt('refuses', 'http://127.0.0.1:1/');
    const good = await startReceiver();
    closing.push(good.close);
    openAt('good', good.url);
    try {
      open(...receivers);
      for (const { name } of receivers)
        for (let i = 0; i < 5; i++) outbox.put(name, alertMessage(), Date.now());
      const startMs = performance.now();
      sender?.wake();
      await expect.poll(() => good.received.length, { interval: 5 }).toBe(5);
      expect(performance.now() - startMs).toBeLessThan(1_000);
      const failing = () =>
        new Set(events.filter(({ kind }) => kind === 'failed').map((event) => event.receiver));
      await expect
        .poll(failing)
        .toEqual(new Set([...Object.keys(respondWith).filter((name) => name !== 'hangs'), 'refuses']));
      await expect.poll(() => outbox.finished.length).toBe(5);
    } finally {
      await sender?.close();
      for (const close of closing) close();
    }
  });
});

test('a test sends one message, marked as such, and says without secrets why it failed', async () => {
  const seen: Outgoing[] = [];
  const signal = new AbortController().signal;
  const ops = receiver('ops', async (outgoing) => void seen.push(outgoing));
  await testReceiver(ops, alertMessage(), { id: 'test_1', nowMs: START_MS, signal });
  expect(seen).toMatchObject([{ id: 'test_1', sentAtMs: START_MS, message: { isTest: true } }]);
  const denied = receiver('ops', async () => {
    throw new SendError('returned 403: key hunter2\nis unknown');
  });
  await expect(
    testReceiver(denied, alertMessage(), { id: 'test_2', nowMs: START_MS, signal }),
  ).rejects.toThrow('ops: returned 403: key *** is unknown');
});
