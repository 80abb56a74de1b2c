import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSessionPool, type PoolLimits } from '../../src/engine/session-pool.ts';
import { TailraceError } from '../../src/errors.ts';

class Session {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}
const sessions = [new Session('first'), new Session('second'), new Session('third')] as const;
const [session] = sessions;
const never = new AbortController().signal;

function createPool(readers: number, limits: Partial<PoolLimits> = {}) {
  const pool = createSessionPool<Session>(sessions.slice(0, readers), {
    queueMax: 1000,
    queuePerLaneMax: 1000,
    queueTimeoutMs: 60_000,
    ...limits,
  });
  const served: string[] = [];
  /** Asks for a session in a lane; what it got, or the code of its refusal. */
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

describe('one session', () => {
  test('goes from lane to lane, however many wait in one', async () => {
    const { served, ask, release } = createPool(1);
    await ask('flood');
    for (let i = 0; i < 500; i++) void ask('flood');
    void ask('b', 'b1');
    void ask('b', 'b2');
    void ask('c');
    for (let i = 0; i < 7; i++) await release();
    expect(served).toEqual(['flood', 'flood', 'b1', 'c', 'flood', 'b2', 'flood', 'flood']);
  });
});

describe('the queue', () => {
  test('refuses a query that waits too long, with a time to retry', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { pool } = createPool(1, { queueTimeoutMs: 20 });
    await pool.acquire(never, { lane: 'a' });
    const late = pool.acquire(never, { lane: 'a' });
    vi.advanceTimersByTime(20);
    await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    expect(pool).toMatchObject({ running: 1, queued: 0 });
  });
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

  test('are refused beyond their own bound, while others of the key may wait up to that of the key', async () => {
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

describe('several sessions', () => {
  test('are never all held by one key, so that another is served at once', async () => {
    const { pool, served, ask } = createPool(3);
    for (let i = 0; i < 10; i++) void ask('flood');
    await ask('b');
    expect(served).toEqual(['flood', 'flood', 'b']);
    expect(pool).toMatchObject({ running: 3, queued: 8 });
  });

  test('are shared out in turn to any number of lanes, each of which gets as much as the others', async () => {
    const { pool, served, ask, release } = createPool(3);
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    const busy: Session[] = [];
    for (const lane of lanes) {
      for (let i = 0; i < 40; i++) {
        void ask(lane).then((got) => {
          if (got instanceof Session) busy.push(got);
        });
      }
    }
    await Promise.resolve();
    for (let i = 0; i < 100; i++) await release(busy.shift());
    const counts = lanes.map((lane) => served.slice(5).filter((name) => name === lane).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    expect(pool.running).toBe(3);
  });
});

describe('a query that several wait for', () => {
  /** Asks in lane `flood` behind others of it, for a query that callers join later. */
  async function askShared(limits: Partial<PoolLimits> = {}) {
    const parts = createPool(2, limits);
    const held = await parts.ask('flood', 'running');
    if (!(held instanceof Session)) throw new Error('the first is served at once');
    void parts.ask('flood', 'ahead');
    let join: (lane: string) => void = () => {};
    const onJoin = (listener: (lane: string) => void) => {
      join = listener;
    };
    const shared = parts.pool
      .acquire(never, { lane: 'flood', onJoin })
      .then(() => parts.served.push('shared'));
    shared.catch(() => {}); // a test may leave it waiting
    return { ...parts, held, shared, join: (lane: string) => join(lane) };
  }

  test('is served in the first turn of any of its lanes', async () => {
    const { pool, served, shared, join } = await askShared();
    expect(pool.queued).toBe(2);
    join('b');
    await shared;
    expect(served).toEqual(['running', 'shared']);
    expect(pool.queued).toBe(1);
  });
});
