import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, INGEST_PATH, send } from '../trial/http.ts';
import { makeLines, toBatches } from './events.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './measure.ts';

// Enough that bytes do not repeat soon; few enough to be created in a second.
const LINES = 20_000;

process.once('message', async (job: LoadJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

async function run(job: LoadJob): Promise<LoadResult> {
  const calls = await createCalls(job);
  const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
  const times: number[] = [];
  const failed = { count: 0, first: '' };
  const statuses: Record<number, number> = {};
  const headers = job.key === undefined ? {} : { 'x-api-key': job.key };
  const startMs = performance.now();
  const endMs = startMs + job.secondsMax * 1000;
  let next = 0;

  async function connection(): Promise<void> {
    while (performance.now() < endMs && next < job.requestsMax) {
      const call = calls[next++ % calls.length];
      if (call === undefined) return;
      const sentMs = performance.now();
      const { status, text } = await send(job.url, agent, { ...call, headers });
      times.push(performance.now() - sentMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) {
        failed.count++;
        failed.first ||= `${status} ${text.slice(0, 500)}`;
      }
      if (job.pauseMs > 0) await wait(job.pauseMs);
    }
  }

  await Promise.all(Array.from({ length: job.connections }, connection));
  const seconds = (performance.now() - startMs) / 1000;
  agent.destroy();
  return {
    requests: times.length,
    failures: failed.count,
    statuses,
    firstFailure: failed.first,
    seconds,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
  };
}

async function createCalls({ send: what, key }: LoadJob): Promise<Call[]> {
  const headers = key === undefined ? {} : { 'x-api-key': key };
  if ('paths' in what) return what.paths.map((path) => ({ path, headers }));
  const path = INGEST_PATH;
  return toBatches(await makeLines(LINES, 1, what.nowMs), what.eventsPerRequest).map((body) => ({
    path,
    body,
    headers,
  }));
}
