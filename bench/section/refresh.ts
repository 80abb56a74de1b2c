import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openBenchData } from '../data.ts';
import { median } from '../measure.ts';
import type { RefreshTimes } from '../refresh-process.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ROUNDS = 3;

/** What it takes to keep a week's statistics warm: the buckets that can have changed, against all of them. */
export async function refreshSection({ rows }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  const full: number[] = [];
  const incremental: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const child = fork(join(import.meta.dirname, '../refresh-process.ts'));
    child.send(data);
    const [times] = (await once(child, 'message')) as [RefreshTimes[]]; // the only one
    child.disconnect();
    await once(child, 'exit');
    full.push(times.reduce((sum, time) => sum + time.full, 0));
    incremental.push(times.reduce((sum, time) => sum + time.incremental, 0));
    const medians = [median(times.map((time) => time.full)), median(times.map((time) => time.incremental))];
    say(
      `refresh: ${times.length} projects, p50 in full and incremental: ${medians.map((ms) => ms.toFixed(1))} ms`,
    );
  }
  return [
    { name: 'statistics of 7 days, all projects in full: engine time', unit: 'ms', values: full },
    { name: 'the same, incremental', unit: 'ms', values: incremental },
    {
      name: 'full / incremental',
      unit: 'ratio',
      values: full.map((ms, i) => ms / (incremental[i] ?? Number.NaN)),
      goal: { atLeast: 5 },
    },
  ];
}
