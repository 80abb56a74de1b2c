import { createRefresh } from '../src/cache/incremental.ts';
import { parseConfig } from '../src/config/config.ts';
import { openStore } from '../src/open-store.ts';
import { parseParameters } from '../src/query/parameters.ts';
import { createRunner } from '../src/query/run.ts';
import type { BenchData } from './data.ts';

/** What one project's statistics of a week took inside the engine, ms. */
export interface RefreshTimes {
  readonly full: number;
  readonly incremental: number;
}

// As often as the shipped endpoints are kept warm.
const WARMING_MS = 300_000;

/**
 * Refreshes the statistics of each project once, on a store whose clock stands where its data ends: everything anew, and what
 * can have changed since the answer of five minutes before.
 */
process.once('message', async ({ dataDir, endMs }: BenchData) => {
  const config = parseConfig({ TAILRACE_DATA_DIR: dataDir, TAILRACE_READERS: '1' });
  const { engine, registry, writes } = await openStore(config, 'the benchmark');
  let nowMs = endMs;
  const now = () => nowMs;
  const run = createRunner(engine, now);
  // By the same clock, or all that is older than a day of the real one would count as lost when the data has been kept for long.
  const clocks = { now, engineNow: now };
  const extents: string[] = [];
  const refresh = createRefresh({
    ...{ run, writes, seesEveryWrite: engine.seesEveryWrite, ...clocks },
    onExtent: (_, extent) => void extents.push(extent),
  });
  const endpoint = registry.getEndpoint('functions.invocation-stats');
  const projects = await engine.inspect(
    'SELECT DISTINCT project FROM tailrace.function_edge_logs ORDER BY project',
  );
  const times: RefreshTimes[] = [];
  for (const [i, { project }] of projects.entries()) {
    const values = parseParameters(endpoint, { project: String(project), interval: '7day' }, 1_000);
    nowMs = endMs - WARMING_MS;
    const kept = await refresh(endpoint, { values, kept: undefined }, {});
    nowMs = endMs;
    const took = { full: 0, incremental: 0 };
    const both = [
      async () => (took.full = await engineMs({ values, kept: undefined })),
      async () => (took.incremental = await engineMs({ values, kept })),
    ];
    // Who comes second finds the files in the system's cache, so each is it as often as the other.
    for (const one of i % 2 === 0 ? both : both.reverse()) await one();
    times.push(took);
  }
  if (extents.length !== times.length || extents.includes('full'))
    throw new Error('a refresh was not incremental');
  process.send?.(times);

  async function engineMs(question: Parameters<typeof refresh>[1]): Promise<number> {
    return (await refresh(endpoint, question, {})).engineMs;
  }
});
// Nothing is written, so nothing has to be ended.
process.once('disconnect', () => process.exit());
