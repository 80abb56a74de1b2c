import { Session } from 'chdb';
import { afterAll, expect, test } from 'vitest';
import { createRunningQueries } from '../../src/engine/running.ts';
import { createSessionPool } from '../../src/engine/session-pool.ts';
import { TailraceError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const session = new Session(folder.path);
afterAll(async () => {
  session.close();
  await folder.remove();
});
const never = new AbortController().signal;

test('hands sessions out first come, first served', async () => {
  const pool = createSessionPool([session], 10);
  await pool.acquire(never);
  const served: number[] = [];
  const waiting = [1, 2, 3].map(async (n) => {
    await pool.acquire(never);
    served.push(n);
    pool.release(session);
  });
  expect(pool).toMatchObject({ running: 1, queued: 3 });
  pool.release(session);
  await Promise.all(waiting);
  expect(served).toEqual([1, 2, 3]);
  expect(pool).toMatchObject({ running: 0, queued: 0 });
});

test('a waiter that left is passed over', async () => {
  const pool = createSessionPool([session], 10);
  await pool.acquire(never);
  const leaving = new AbortController();
  const gone = pool.acquire(leaving.signal);
  const next = pool.acquire(never);
  leaving.abort(new Error('left'));
  await expect(gone).rejects.toThrow('left');
  expect(pool.queued).toBe(1);
  pool.release(session);
  expect(await next).toBe(session);
});

test('draining fails everyone who waits', async () => {
  const pool = createSessionPool([session], 10);
  await pool.acquire(never);
  const waiting = pool.acquire(never);
  const error = new TailraceError('engine_unavailable', 'closing');
  pool.drain(error);
  await expect(waiting).rejects.toBe(error);
  expect(pool.queued).toBe(0);
});

test('a query that was aborted between its turn and its start does not run', async () => {
  const running = createRunningQueries(session);
  const start = running.start(
    session,
    'SELECT sum(number) FROM numbers(1e15)',
    'TSVRaw',
    AbortSignal.abort('left'),
  );
  await expect(start).rejects.toBe('left');
});
