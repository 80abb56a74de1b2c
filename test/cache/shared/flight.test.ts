import { expect, test } from 'vitest';
import { createSharedFlights } from '../../../src/cache/shared/flight.ts';
import type { SharedCache } from '../../../src/cache/shared/shared-cache.ts';
import { createBackground } from '../../../src/lib/background.ts';
import type { Answer } from '../../../src/query/run.ts';

const ANSWER: Answer = { body: Buffer.from('{}'), rows: 0, instantMs: 1, engineMs: 1 };

/** A cache that is slow to keep; what was asked of it, in order. */
function setUp() {
  const asked: string[] = [];
  const shared: SharedCache = {
    markOf: () => undefined,
    find: async () => 'none',
    look: async () => ({ mark: '', holder: '' }),
    lease: async () => ({ mark: '', free: async () => void asked.push('freed') }),
    async keep() {
      await new Promise((resolve) => setImmediate(resolve));
      asked.push('kept');
    },
  };
  const background = createBackground();
  const flights = createSharedFlights({ shared, background, queryTimeoutMs: 1_000, onLookup() {} });
  const obtain = (make: () => Promise<Answer>) =>
    flights.obtain({
      ...{ key: 'key', life: { seconds: 1 }, isGood: () => true },
      ...{ make, signal: new AbortController().signal },
    });
  return { asked, background, obtain };
}

test('the caller does not wait for an answer to be shared; the lease is free when it is', async () => {
  const { asked, background, obtain } = setUp();
  expect(await obtain(async () => ANSWER)).toEqual({ answer: ANSWER, origin: 'engine' });
  expect(asked).toEqual([]);
  await background.idle();
  expect(asked).toEqual(['kept', 'freed']);
});

test('the lease is free when the query has failed, and nothing is shared', async () => {
  const { asked, background, obtain } = setUp();
  await expect(obtain(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await background.idle();
  expect(asked).toEqual(['freed']);
});
