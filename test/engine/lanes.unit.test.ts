import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSessionPool, type PoolLimits } from '../../src/engine/lanes.ts';
import { TailraceError } from '../../src/errors.ts';

type Session = { readonly name: string };
const sessions: readonly [Session, ...Session[]] = [{ name: 'first' }, { name: 'second' }, { name: 'third' }];
const [session] = sessions;
const never = new AbortController().signal;

function createPool(readers: number, limits: Partial<PoolLimits> = {}) {
  const wide = { queueMax: 1000, queuePerLaneMax: 1000, queueTimeoutMs: 60_000 };
  const pool = createSessionPool<Session>(sessions.slice(0, readers), { ...wide, ...limits });
  const served: string[] = [];
  /** Asks for a session in a lane; what it got, or the code of its rejection. */
  const ask = (lane: string, name = lane, signal = never) =>
    pool.acquire(signal, { lane }).then(
      (got) => {
        served.push(name);
        return got;
      },
      (error: unknown) => (error instanceof TailraceError ? error.code : error),
    );
  /** Releases a session, and lets the next waiting query continue. */
  const release = async (one: Session = session) => {
    pool.release(one);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { pool, served, ask, release };
}

test('one session goes from lane to lane, however many wait in one', async () => {
  const { served, ask, release } = createPool(1);
  await ask('flood');
  for (let i = 0; i < 500; i++) void ask('flood');
  void ask('b', 'b1');
  void ask('b', 'b2');
  void ask('c');
  for (let i = 0; i < 7; i++) await release();
  expect(served).toEqual(['flood', 'flood', 'b1', 'c', 'flood', 'b2', 'flood', 'flood']);
});

test('the queue rejects a query that waits too long, with a time to retry', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { pool } = createPool(1, { queueTimeoutMs: 20 });
  await pool.acquire(never, { lane: 'a' });
  const late = pool.acquire(never, { lane: 'a' });
  vi.advanceTimersByTime(20);
  await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
  expect(pool).toMatchObject({ running: 1, queued: 0 });
});

test('a caller joins a waiting query with its own lane even if the queue is full', async () => {
  const { pool, ask } = createPool(3, { queueMax: 1 });
  for (let i = 0; i < 2; i++) await ask('flood');
  let join = (_lane: string) => {};
  const waiting = pool.acquire(never, {
    lane: 'flood',
    onJoin: (listener) => {
      join = listener;
    },
  });
  expect([pool.queued, await ask('flood')]).toEqual([1, 'overloaded']);
  join('b');
  await waiting;
  expect(pool).toMatchObject({ running: 3, queued: 0 });
});

describe('tokens of one key', () => {
  test('take turns within the turns of their key, which remain one share among keys', async () => {
    const { served, ask, release } = createPool(1);
    await ask('a/1', 'first');
    for (let i = 0; i < 50; i++) void ask('a/1');
    void ask('a/2');
    void ask('a');
    for (const name of ['b1', 'b2', 'b3']) void ask('b', name);
    for (let i = 0; i < 7; i++) await release();
    expect(served).toEqual(['first', 'a/1', 'b1', 'a/2', 'b2', 'a', 'b3', 'a/1']);
  });

  test('are rejected beyond their own bound, while others of the key may wait up to that of the key', async () => {
    const { pool, ask } = createPool(1, { queuePerLaneMax: 4, queuePerTokenMax: 2 });
    await ask('b');
    for (let i = 0; i < 2; i++) void ask('a/1');
    expect(await ask('a/1')).toBe('overloaded');
    void ask('a/2');
    void ask('a');
    expect(await ask('a/3')).toBe('overloaded');
    expect(await ask('a')).toBe('overloaded');
    void ask('b');
    expect(pool.queued).toBe(5);
  });
});

test('several sessions are never all held by one key, so that another is served at once', async () => {
  const { pool, served, ask } = createPool(3);
  for (let i = 0; i < 10; i++) void ask('flood');
  await ask('b');
  expect(served).toEqual(['flood', 'flood', 'b']);
  expect(pool).toMatchObject({ running: 3, queued: 8 });
});
