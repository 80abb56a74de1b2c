import { expect, test } from 'vitest';
import { createMetricRegistry } from '../../src/telemetry/prometheus.ts';

test('a counter has a line for each combination of its label values, quoted, in the order of their first use', async () => {
  const registry = createMetricRegistry();
  const counter = registry.counter<[a: string, b: string]>('x_total', 'Help.', ['a', 'b']);
  counter.at('start', '');
  counter.inc('1', '2');
  counter.at('12', '').value += 3;
  counter.inc('1', '2');
  counter.inc('"\\', '\n');
  expect((await registry.render()).split('\n').filter((line) => line.includes('x_total'))).toEqual([
    '# HELP x_total Help.',
    '# TYPE x_total counter',
    'x_total{a="start",b=""} 0',
    'x_total{a="1",b="2"} 2',
    'x_total{a="12",b=""} 3',
    String.raw`x_total{a="\"\\",b="\n"} 1`,
  ]);
  expect([counter.find('1', '2')?.value, counter.find('2', '1')]).toEqual([2, undefined]);
});
