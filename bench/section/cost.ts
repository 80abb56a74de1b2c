import type { Cost, CostJob, CostResult } from '../cost-process.ts';
import { inTemporaryFolder } from '../folder.ts';
import { describeSize } from '../growth.ts';
import { runChild } from '../load.ts';
import { type GoalsByRows, goalAt } from '../questions.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import type { WriteCost, WriteJob } from '../write-cost-process.ts';

const ROUNDS = 3;
const MS_MAX = 15 * 60_000;
const SIZES = 4;
/** Goals for a question's core time by the rows of its project in a week. */
const BELOW_CORE_MS: Readonly<Record<string, GoalsByRows>> = {
  'functions.invocation-stats 7day': { 10000000: 30 },
};

/**
 * CPU time, which other work on the machine affects less than elapsed time: of an event, and of a
 * question by the rows of its project in a week. The inputs of docs/capacity.md.
 */
export async function costSection({ rows }: BenchOptions): Promise<Row[]> {
  const writes: WriteCost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await inTemporaryFolder(async (dataDir) => {
      writes.push(await runChild<WriteJob, WriteCost>('write-cost-process.ts', { dataDir }, MS_MAX));
    });
    say(`cost: ${JSON.stringify(writes.at(-1))}`);
  }
  const sizes = Array.from({ length: SIZES }, (_, i) => Math.ceil(rows / 10 ** (SIZES - 1 - i)));
  const { costs, indexBytesPerEvent } = await inTemporaryFolder((dataDir) =>
    runChild<CostJob, CostResult>('cost-process.ts', { dataDir, sizes }, MS_MAX),
  );
  return [
    ...toWriteRows(writes),
    { name: 'cost, index in memory', unit: 'bytes/event', values: [indexBytesPerEvent] },
    ...Object.entries(costs).flatMap(([name, all]) => toRows(name, sizes, all)),
  ];
}

function toWriteRows(writes: readonly WriteCost[]): Row[] {
  const steps = Object.keys(writes[0] ?? {}) as (keyof WriteCost)[]; // a WriteCost has no other keys
  return steps.map((step) => ({
    name: `cost, an event ${step}`,
    unit: 'core µs',
    values: writes.map((write) => write[step]),
  }));
}

function toRows(name: string, sizes: readonly number[], costs: readonly Cost[]): Row[] {
  return costs.flatMap(({ coreMs, ms }, i) => {
    const what = `cost, ${name}, ${describeSize(sizes[i] ?? 0)} rows a week`;
    return [
      { name: what, unit: 'core ms', values: [coreMs], ...goalAt(BELOW_CORE_MS[name], sizes[i] ?? 0) },
      { name: `${what}, until the answer`, unit: 'ms', values: [ms] },
    ];
  });
}
