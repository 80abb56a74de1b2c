import { expect, test } from 'vitest';
import { createSharedFlights } from '../../../src/cache/shared/flight.ts';
import type { SharedCache } from '../../../src/cache/shared/redis-cache.ts';
import { createBackground } from '../../../src/lib/background.ts';
import { JSON_FORMAT } from '../../../src/query/format.ts';
import { createQuestion } from '../../../src/query/question.ts';
import type { Answer } from '../../../src/query/run.ts';
import { CACHED } from '../../support/cached-endpoint.ts';

const ANSWER: Answer = { body: Buffer.from('{}'), rows: 0, format: JSON_FORMAT, instantMs: 1, engineMs: 1 };

/** A cache that is slow to keep; what was asked of it, in order. */
function setUp() {
  const asked: string[] = [];
  const shared: SharedCache = {
    markOf: () => undefined,
    find: async () => 'none',
    probe: async () => ({ mark: '', holder: '' }),
    lease: async () => ({ mark: '', release: async () => void asked.push('released') }),
    async keep() {
      await new Promise((resolve) => setImmediate(resolve));
      asked.push('kept');
    },
  };
  const background = createBackground();
  const flights = createSharedFlights({ shared, background, queryTimeoutMs: 1_000, onLookup() {} });
  const obtain = (compute: () => Promise<Answer>) =>
    flights.obtain({
      ...{ question: createQuestion(CACHED, {}), lifeSeconds: 1, isGood: () => true },
      ...{ compute, signal: new AbortController().signal },
    });
  return { asked, background, obtain };
}

test('the caller does not wait for an answer to be shared; the lease is released when it is', async () => {
  const { asked, background, obtain } = setUp();
  expect(await obtain(async () => ANSWER)).toEqual({ answer: ANSWER, origin: 'engine' });
  expect(asked).toEqual([]);
  await background.idle();
  expect(asked).toEqual(['kept', 'released']);
});

test('the lease is released when the query has failed, and nothing is shared', async () => {
  const { asked, background, obtain } = setUp();
  await expect(obtain(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await background.idle();
  expect(asked).toEqual(['released']);
});
