import { expect, test } from 'vitest';
import { createStoringWatch } from '../../src/ingest/backpressure.ts';

test.each([
  { freeBytes: 1e9, isSpent: false, problem: undefined },
  {
    freeBytes: 0,
    isSpent: false,
    problem: /^the disk of the data directory is full \(0 bytes are free\): events get 503/,
  },
  { freeBytes: 9e6, isSpent: true, problem: /\(9000000 bytes are free, for deletions and changes of keys\)/ },
])('with $freeBytes free bytes, which are spared: $isSpent', async ({ freeBytes, isSpent, problem }) => {
  const watch = createStoringWatch({
    readFreeBytes: async () => freeBytes,
    isSpent: () => isSpent,
    now: () => 0,
  });
  if (problem === undefined) expect(await watch.findProblem()).toBeUndefined();
  else expect(await watch.findProblem()).toMatch(problem);
  if (isSpent) expect(watch.requireRoom).toThrow('the disk is full; nothing was stored');
  else watch.requireRoom();
});
