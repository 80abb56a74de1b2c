import { describe, expect, test } from 'vitest';
import { describeWorse, FIGURE_NAMES, type Figures, findWorse, takeBetter } from './figure.ts';

const figures = (changed: Partial<Figures> = {}): Figures => ({
  ...(Object.fromEntries(FIGURE_NAMES.map((name) => [name, 2])) as Record<keyof Figures, number>), // all names
  ...changed,
});

describe('a figure is worse', () => {
  test('only if it exceeds the saved one by more than 15 %', () => {
    const measured = figures({ cached: 2.29, search: 2.31, start: 1 });
    expect(findWorse(figures(), measured)).toEqual([{ name: 'search', saved: 2, measured: 2.31 }]);
  });

  test('if it was not measured', () => {
    const worse = findWorse(figures(), figures({ disk: Number.NaN }));
    expect(worse.map(({ name }) => name)).toEqual(['disk']);
  });

  test('only if it is in both of two measurements', () => {
    const better = takeBetter(figures({ search: 2.5, start: 1.9 }), figures({ cached: 2.5, start: 2.5 }));
    expect(better).toEqual(figures({ start: 1.9 }));
  });

  test('and described by its name and both values', () => {
    expect(describeWorse({ name: 'search', saved: 30.04, measured: 40.06 })).toMatch(
      /^search \(.+\): 40\.1 instead of 30 \(\+33 %\)$/,
    );
  });
});
