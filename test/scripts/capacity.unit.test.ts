import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MEASURED, SCALES, WEEKS } from '../../scripts/docs/capacity-figures.ts';
import { calculate, weekMs } from '../../scripts/docs/capacity-model.ts';

const of = (name: string) => {
  const scale = SCALES.find((one) => one.name === name);
  if (scale === undefined) throw new Error(`there is no ${name}`);
  const steps = calculate(scale);
  return (figure: string) => steps.find((step) => step.name === figure)?.value;
};

describe('the capacity model, calculated by hand', () => {
  test('ten billion events in 90 days are 1,286 a second, three times that at the busiest', () => {
    const figure = of('10 G');
    expect(figure('events, on average')).toBeCloseTo(10_000_000_000 / 7_776_000, 6);
    expect(figure('events, at the busiest time')).toBeCloseTo(3_858.02, 2);
  });

  test('a trillion events of 105 bytes are 105 TB, 15 shards of 7 TB each, 30 servers', () => {
    const figure = of('1 T');
    expect(figure('disk of one copy')).toBe(105e12);
    expect(figure('shards by disk')).toBe(15);
    expect(figure('**shards**')).toBe(15);
    expect(figure('**ClickHouse servers**')).toBe(30);
  });

  test('a million events need one server, its copy, and the two replicas that there are at least', () => {
    const figure = of('1 M');
    expect([
      figure('**shards**'),
      figure('**ClickHouse servers**'),
      figure('**replicas of Tailrace**'),
    ]).toEqual([1, 2, 2]);
  });

  test('a week of the measured sizes costs about what was measured', () => {
    for (const { rows, stats, usage } of WEEKS) {
      expect(Math.abs(weekMs('stats', rows) / stats - 1)).toBeLessThan(0.4);
      expect(Math.abs(weekMs('usage', rows) / usage - 1)).toBeLessThan(0.4);
    }
  });
});

test('docs/scaling.md begins with the figures of the model', () => {
  const scaling = readFileSync('docs/scaling.md', 'utf8');
  const [, section = ''] = /## When to move\n([\s\S]*?)\n## /.exec(scaling) ?? [];
  expect(section).toContain(`${MEASURED.diskBytes.value} bytes`);
});
