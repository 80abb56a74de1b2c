import { describe, expect, test } from 'vitest';
import { createClaims } from '../../../src/cache/shared/claim.ts';
import type { Probe, SharedCache } from '../../../src/cache/shared/redis-cache.ts';
import { createBackground } from '../../../src/lib/background.ts';
import { createQuestion } from '../../../src/query/question.ts';
import { CACHED } from '../../support/cached-endpoint.ts';

const WANTED = { question: createQuestion(CACHED, {}), isGood: () => true, mark: '' };

/** A cache without an answer, whose lease is always another replica's. */
function heldBy(probe: () => Probe): SharedCache {
  return {
    probe: async () => probe(),
    find: async () => 'none',
    lease: async () => 'held',
    keep: async () => {},
    markOf: () => undefined,
  };
}

const wait = (shared: SharedCache, timeoutMs: number, waitMsMax = timeoutMs + 10_000) =>
  createClaims(shared, { background: createBackground(), waitMsMax }).wait(
    WANTED,
    AbortSignal.timeout(timeoutMs),
  );

describe('a caller that waits for another replica', () => {
  test('sees that it has failed where it, or a third, has taken the lease again', async () => {
    let probes = 0;
    const shared = heldBy(() => ({ mark: '', holder: `holder ${++probes}` }));
    expect(await wait(shared, 10_000)).toEqual({ kind: 'ours', lease: undefined });
  });

  test('waits as long as the same one is at it', async () => {
    const shared = heldBy(() => ({ mark: '', holder: 'the same' }));
    await expect(wait(shared, 300)).rejects.toThrow('timeout');
  });

  test('makes the answer itself after a bound, however long the other renews its lease', async () => {
    const shared = heldBy(() => ({ mark: '', holder: 'the same' }));
    expect(await wait(shared, 10_000, 60)).toEqual({ kind: 'ours', lease: undefined });
  });
});
