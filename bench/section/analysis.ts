import { Agent } from 'node:http';
import { openBenchData } from '../data.ts';
import { withPastServer } from '../past-server.ts';
import { ANALYSIS_KINDS, askNew } from '../questions.ts';
import { type BenchOptions, type Row, timesRow } from '../report.ts';

const ROUNDS = 9;
const WARM_UP = 2;

/** Patterns, comparison and fields of every event of a week: of samples, if there are more events than they read. */
export async function analysisSection({ rows }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await withPastServer(data, 'steps', async ({ url }) => {
    const agent = new Agent({ keepAlive: true });
    const times = ANALYSIS_KINDS.map((): number[] => []);
    for (let i = 0; i < ROUNDS + WARM_UP; i++)
      for (const [nth, { path }] of ANALYSIS_KINDS.entries()) {
        const { ms } = await askNew(url, agent, path('', data.endMs - i));
        if (i >= WARM_UP) times[nth]?.push(ms);
      }
    agent.destroy();
    return ANALYSIS_KINDS.map(({ name, below }, nth) =>
      timesRow(name, times[nth] ?? [], { goal: { below } }),
    );
  });
}
