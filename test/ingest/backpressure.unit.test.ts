import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBackpressure, type Overload } from '../../src/ingest/backpressure.ts';
import { runs } from '../support/property.ts';

const MIB = 1024 * 1024;
const WAIT_MS_MAX = 1_000;
const STEP_MS = 10;

/** Backpressure on a clock that the test moves, and an engine that stores so many bytes in a millisecond, in the order of arrival. */
function simulate(bytesPerMs = 10_000, bytesMax = Number.POSITIVE_INFINITY) {
  const clock = { now: 5_000 };
  const refusals: Overload[] = [];
  const backpressure = createBackpressure({
    waitMsMax: WAIT_MS_MAX,
    bytesMax,
    now: () => clock.now,
    onOverload: (reason) => void refusals.push(reason),
  });
  const queue: { left: number; done: () => void }[] = [];
  const waitsMs: number[] = [];

  /** @returns whether it was accepted, and its rejection */
  function send(bytes: number, key = 'key') {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isAccepted = false;
    const atMs = clock.now;
    async function receive(): Promise<void> {
      backpressure.check(key, bytes);
      await backpressure.run(key, bytes, () => {
        isAccepted = true;
        queue.push({ left: bytes, done: resolve });
        return promise;
      });
    }
    const outcome = receive().then(
      () => void waitsMs.push(clock.now - atMs),
      (error: unknown) => error,
    );
    return { isAccepted, outcome };
  }

  /** Lets time pass; before each step `before` may send. */
  async function pass(ms: number, before: () => void = () => {}): Promise<void> {
    for (const endMs = clock.now + ms; clock.now < endMs; clock.now += STEP_MS) {
      before();
      let can = bytesPerMs * STEP_MS;
      for (let first = queue[0]; first !== undefined && can > 0; first = queue[0]) {
        const part = Math.min(can, first.left);
        can -= part;
        first.left -= part;
        if (first.left > 0) break;
        queue.shift();
        first.done();
      }
      await settle();
    }
  }

  /** Sends requests of `bytes` at a multiple of what the engine can do. */
  async function load(times: number, ms: number, bytes = 500_000) {
    let due = 0;
    const sent = { accepted: 0, refused: 0 };
    await pass(ms, () => {
      for (due += (times * bytesPerMs * STEP_MS) / bytes; due >= 1; due--)
        sent[send(bytes).isAccepted ? 'accepted' : 'refused']++;
    });
    return sent;
  }

  return { refusals, waitsMs, send, pass, load };
}

/** Lets what has been resolved go on. */
const settle = async () => {
  for (let i = 0; i < 6; i++) await undefined;
};

test('a service that can keep up rejects nothing at nine tenths of what it can do', async () => {
  expect(await simulate().load(0.9, 60_000)).toMatchObject({ refused: 0 });
});

test('a service with twice as much to do as it can rejects the rest; what it accepts waits for about as long as it may, and it is never without work', async () => {
  const { load, waitsMs, refusals } = simulate();
  await load(2, 10_000);
  waitsMs.length = 0;
  refusals.length = 0;
  const { accepted, refused } = await load(2, 30_000);
  expect(accepted / (accepted + refused)).toBeCloseTo(0.5, 1);
  expect(waitsMs.length / ((30_000 * 10_000) / 500_000)).toBeGreaterThan(0.95);
  expect(Math.max(...waitsMs)).toBeLessThan(1.3 * WAIT_MS_MAX);
  expect(new Set(refusals)).toEqual(new Set(['wait']));
});

describe('the bytes that wait', () => {
  const RETRY = { code: 'overloaded', retryAfterSeconds: 1 };

  test('are bounded: what comes then is rejected at once, until they are stored', async () => {
    const { send, pass, refusals } = simulate(1, 1_000);
    const first = send(2_000); // a body of any size is accepted in its turn
    for (const key of ['key', 'other']) {
      const refused = send(1, key);
      expect([refused.isAccepted, await refused.outcome]).toEqual([false, expect.objectContaining(RETRY)]);
    }
    expect(refusals).toEqual(['backlog', 'backlog']);
    await pass(2_000);
    await first.outcome;
    expect(send(1).isAccepted).toBe(true);
  });

  test('are shared: a key leaves a quarter to others', () => {
    const { send, refusals } = simulate(1, 10_000);
    const fill = (key: string) => Array.from({ length: 20 }, () => send(700, key).isAccepted);
    expect(fill('first').filter(Boolean)).toHaveLength(11);
    expect(new Set(refusals)).toEqual(new Set(['share']));
    expect(fill('second').filter(Boolean).length).toBeGreaterThan(1);
  });
});

test('keys no flood of others rejects the first small request of a key', async () => {
  const flood = fc.record({
    key: fc.integer({ min: 1, max: 12 }),
    bytes: fc.integer({ min: 1, max: 64 * MIB }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(flood, { maxLength: 60 }), async (floods) => {
      const { load, send, pass } = simulate(1_000);
      await load(2, 8_000);
      for (const { key, bytes } of floods) send(bytes, `flood ${key}`);
      expect(send(10_000, 'small').isAccepted).toBe(true);
      await pass(STEP_MS);
    }),
    runs(40),
  );
});
