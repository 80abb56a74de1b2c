import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../measure.ts';
import type { RefreshJob, RefreshResult } from '../refresh-process.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

/** The cost of a warm week of statistics: only time buckets that can have changed, against all of them. */
export async function refreshSection({ rows }: BenchOptions): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tailrace-bench-'));
  const child = fork(join(import.meta.dirname, '../refresh-process.ts'));
  try {
    child.send({ dataDir, rows } satisfies RefreshJob);
    const [result] = (await once(child, 'message')) as [RefreshResult]; // the only one
    await once(child, 'exit');
    return report(result, rows);
  } finally {
    child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
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
