import { describe, expect, test } from 'vitest';
import { fitScaling, reckonMs, reckonRate } from './scaling.ts';

describe('the model of more cores', () => {
  test('finds the serial and the parallel part of times that follow it', () => {
    const model = fitScaling([1, 2, 4].map((cores) => ({ cores, ms: 2 + 8 / cores })));
    expect(model.serialMs).toBeCloseTo(2);
    expect(model.parallelMs).toBeCloseTo(8);
    expect([8, 16].map((cores) => reckonMs(model, cores))).toEqual([expect.closeTo(3), expect.closeTo(2.5)]);
  });

  test('has no negative part if more cores took longer, or less than their share', () => {
    expect(
      fitScaling([
        { cores: 1, ms: 10 },
        { cores: 2, ms: 12 },
      ]),
    ).toEqual({ serialMs: 11, parallelMs: 0 });
    const faster = fitScaling([
      { cores: 1, ms: 10 },
      { cores: 2, ms: 4 },
    ]);
    expect(faster.serialMs).toBe(0);
    expect(faster.parallelMs).toBeCloseTo(9.6); // (10 × 1 + 4 × 1/2) / (1 + 1/4)
  });

  test('is not made of one number of cores', () => {
    expect(() => fitScaling([{ cores: 2, ms: 5 }])).toThrow('two numbers of cores');
  });
});

describe('the reckoned rate of new answers', () => {
  const inputs = {
    alone: { serialMs: 5, parallelMs: 5 },
    many: { serialMs: 0, parallelMs: 10 },
    loopMs: 1,
    readers: 8,
  };

  test('is bound by the cores as long as the event loop and the readers allow more', () => {
    expect(reckonRate(inputs, 8)).toEqual({ perSecond: 800, bound: 'cores' });
    expect(reckonRate({ ...inputs, readers: 16 }, 16)).toEqual({ perSecond: 1000, bound: 'event loop' });
  });

  test('is bound by the readers, each of which has one query at a time', () => {
    expect(reckonRate({ ...inputs, readers: 2 }, 5)).toEqual({ perSecond: 2000 / 6, bound: 'readers' });
  });
});
