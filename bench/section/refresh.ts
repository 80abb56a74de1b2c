import { inTemporaryFolder } from '../folder.ts';
import { runChild } from '../load.ts';
import { median } from '../measure.ts';
import type { RefreshJob, RefreshResult } from '../refresh-process.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const MS_MAX = 15 * 60_000;

/** The cost of a warm week of statistics: only time buckets that can have changed, against all of them. */
export async function refreshSection({ rows }: BenchOptions): Promise<Row[]> {
  const result = await inTemporaryFolder((dataDir) =>
    runChild<RefreshJob, RefreshResult>('refresh-process.ts', { dataDir, rows }, MS_MAX),
  );
  return report(result, rows);
}

function report({ rounds, projects }: RefreshResult, rows: number): Row[] {
  const full = rounds.map((times) => median(times.map((time) => time.full)));
  const incremental = rounds.map((times) => median(times.map((time) => time.incremental)));
  const what = `statistics of 7 days, ${rows.toLocaleString('en')} invocations of ${projects} projects`;
  say(`refresh: ${median(full).toFixed(1)} ms in full, ${median(incremental).toFixed(1)} ms incremental`);
  return [
    { name: `${what}, in full: engine time, p50`, unit: 'ms', values: full },
    { name: 'the same, incremental', unit: 'ms', values: incremental },
    {
      name: 'full / incremental',
      unit: 'ratio',
      values: full.map((ms, i) => ms / (incremental[i] ?? Number.NaN)),
      goal: { atLeast: 5 },
    },
  ];
}
