import { Agent } from 'node:http';
import { send } from '../../trial/http.ts';
import { openBenchData } from '../data.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { pathOf, type Question } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const REQUESTS = 1_000;

/** The number of engine queries when a thousand callers send the same uncached question at once. */
export async function collapseSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withPastServer(await openBenchData(rows), 'runs', async (server) => {
    const times: number[] = [];
    const queries: number[] = [];
    for (const project of server.projects.slice(0, 5)) {
      const before = await countQueries(server.url);
      times.push(...(await askAtOnce(server, project)));
      queries.push((await countQueries(server.url)) - before);
      say(`collapse: ${REQUESTS} requests at once were ${queries.at(-1)} queries`);
    }
    // No round may have a second query, whatever the median.
    const most = Math.max(...queries);
    const name = `${REQUESTS.toLocaleString('en')} identical cold requests at once`;
    return [
      { name: `${name}: engine queries, the most`, unit: 'queries', values: [most], goal: { below: 2 } },
      timesRow(`${name}: each`, times),
    ];
  });
}

async function askAtOnce({ url }: PastServer, project: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const question: Question = { endpoint: 'usage.api-counts', parameters: { project, interval: 'daily' } };
  const path = pathOf(question);
  const ask = async () => {
    const startMs = performance.now();
    const { status, text } = await send(url, agent, { path });
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
    return performance.now() - startMs;
  };
  try {
    return await Promise.all(Array.from({ length: REQUESTS }, ask));
  } finally {
    agent.destroy();
  }
}

/** Engine queries since the start of the service. */
async function countQueries(url: string): Promise<number> {
  const agent = new Agent();
  const { text } = await send(url, agent, { path: '/metrics' });
  const values = text.matchAll(/^tailrace_engine_queries_total(?:\{.*\})? (\d+)$/gm);
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}
