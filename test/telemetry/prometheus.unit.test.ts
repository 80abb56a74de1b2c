import { expect, test } from 'vitest';
import { createMetricRegistry } from '../../src/telemetry/prometheus.ts';

/** The lines of a metric. */
async function linesOf({ render }: ReturnType<typeof createMetricRegistry>, name: string): Promise<string[]> {
  return (await render()).split('\n').filter((line) => line.includes(name));
}

test('a counter has a line for each combination of its label values, quoted, in the order of their first use', async () => {
  const registry = createMetricRegistry();
  const counter = registry.counter<[a: string, b: string]>('x_total', 'Help.', ['a', 'b']);
  counter.at('start', '');
  counter.inc('1', '2');
  counter.at('12', '').add(3);
  counter.inc('1', '2');
  counter.inc('"\\', '\n');
  expect(await linesOf(registry, 'x_total')).toEqual([
    '# HELP x_total Help.',
    '# TYPE x_total counter',
    'x_total{a="start",b=""} 0',
    'x_total{a="1",b="2"} 2',
    'x_total{a="12",b=""} 3',
    String.raw`x_total{a="\"\\",b="\n"} 1`,
  ]);
  expect([counter.find('1', '2')?.value, counter.find('2', '1')]).toEqual([2, undefined]);
});

test('a counter without labels is there before its first count, a gauge without a value is not', async () => {
  const registry = createMetricRegistry();
  const { inc } = registry.unlabelledCounter('x_total', 'Help.');
  let value: number | undefined;
  registry.gauge('y', 'Help.', () => value);
  expect((await linesOf(registry, 'x_total')).at(-1)).toBe('x_total 0');
  expect((await linesOf(registry, 'y ')).at(-1)).toBe('# TYPE y gauge');
  inc();
  value = 0.5;
  expect((await linesOf(registry, 'x_total')).at(-1)).toBe('x_total 1');
  expect((await linesOf(registry, 'y ')).at(-1)).toBe('y 0.5');
});

test('a histogram has cumulative buckets, a sum and a count', async () => {
  const registry = createMetricRegistry();
  const durations = registry.histogram<[of: string]>('x', 'Help.', ['of']).at('a');
  for (const seconds of [0.5, 0.75, 40]) durations.observe(seconds);
  expect((await linesOf(registry, 'x')).slice(-8)).toEqual([
    ...['1', '2.5', '5', '10', '30'].map((le) => `x_bucket{of="a",le="${le}"} 2`),
    'x_bucket{of="a",le="+Inf"} 3',
    'x_sum{of="a"} 41.25',
    'x_count{of="a"} 3',
  ]);
});
