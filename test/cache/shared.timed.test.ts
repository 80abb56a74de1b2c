import { describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { setUpReplicas } from '../support/replica.ts';

const textOf = ({ answer }: { answer: { body: Buffer } }) => answer.body.toString();
const WAIT = { timeout: 60_000 };

// Leases end by the real clock of Redis.
describe.skipIf(findProgram('redis-server') === undefined)('replicas over one Redis', () => {
  const { redis, openTwo } = setUpReplicas();

  test.each(['fails', 'dies'])('make an answer themselves if the one that made it %s', async (how) => {
    const [a, b] = await openTwo({ isPrompt: false });
    const first = a.ask().catch(() => 'failed');
    const query = await a.query();
    const waiting = b.ask();
    if (how === 'fails') query.fail(new Error('failed here'));
    else a.die();
    (await b.query()).answer('made there');
    expect(textOf(await waiting)).toBe('made there');
    query.answer();
    await first;
  });

  test('have caches of their own without Redis, none fails, and they share again when it is back', async () => {
    const [a, b] = await openTwo();
    await redis().kill();
    await vi.waitFor(() => expect([a.redis.isUp, b.redis.isUp]).toEqual([false, false]), WAIT);
    for (const outcome of ['miss', 'hit'])
      for (const replica of [a, b]) expect((await replica.ask()).outcome).toBe(outcome);
    await redis().start();
    await vi.waitFor(() => expect([a.redis.isUp, b.redis.isUp]).toEqual([true, true]), WAIT);
    await a.ask({ a: 'again' });
    await a.idle();
    expect((await b.ask({ a: 'again' })).outcome).toBe('shared');
  });
});
