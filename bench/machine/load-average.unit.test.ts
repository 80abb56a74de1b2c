import { expect, test } from 'vitest';
import { settleLoad } from './load-average.ts';

/** A machine with these load averages, one for each pause; the last one stays. */
function machineOf(...loads: number[]) {
  let pauses = 0;
  const read = () => loads[Math.min(pauses, loads.length - 1)] ?? 0;
  return { read, wait: async () => void pauses++, pauses: () => pauses };
}

test('takes the load average before the first section as it is', async () => {
  const machine = machineOf(2.3);
  expect(await settleLoad(true, machine)).toBe(2.3);
  expect(machine.pauses()).toBe(0);
});

test('waits until the load of the section before has passed', async () => {
  const machine = machineOf(2.3, 1.4, 0.9, 0.5);
  expect(await settleLoad(false, machine)).toBe(0.9);
  expect(machine.pauses()).toBe(2);
});

test('does not wait forever for other work', async () => {
  const machine = machineOf(4);
  expect(await settleLoad(false, machine)).toBe(4);
  expect(machine.pauses()).toBe(18);
});
