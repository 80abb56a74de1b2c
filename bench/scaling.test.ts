import { describe, expect, test } from 'vitest';
import { fitScaling, reckonMs } from './scaling.ts';

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
