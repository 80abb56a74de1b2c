import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, INGEST_PATH, send } from '../trial/http.ts';
import { makeLines, toBatches } from './events.ts';
import type { LoadJob, LoadResult, Times } from './load.ts';
import { quantile } from './report.ts';

// Enough that bytes do not repeat soon; few enough to be created in a second.
const LINES = 20_000;

process.once('message', async (job: LoadJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

async function run(job: LoadJob): Promise<LoadResult> {
  const calls = await createCalls(job);
  const maxSockets = job.perSecond === undefined ? job.connections : Number.POSITIVE_INFINITY;
  const agent = new Agent({ keepAlive: true, maxSockets });
  const taken = createRecord();
  const startMs = performance.now();
  let next = 0;

  /** Sends the next request. @returns how long its sender has to wait before another one, ms */
  async function sendNext(): Promise<number> {
    const call = calls[next++ % calls.length];
    if (call === undefined) return job.pauseMs;
    const sentMs = performance.now();
    const { status, text, headers: answered } = await send(job.url, agent, call);
    taken.add({ status, text, ms: performance.now() - sentMs });
    return status === 503 ? Number(answered['retry-after'] ?? 1) * 1000 : job.pauseMs;
  }

  const lasts = () => performance.now() < startMs + job.secondsMax * 1000 && next < job.requestsMax;
  if (job.perSecond === undefined) await sendInTurn({ ...job, lasts, sendNext });
  else await sendOnTime({ perSecond: job.perSecond, lasts, sendNext });
  agent.destroy();
  return taken.finish((performance.now() - startMs) / 1000);
}

interface Sending {
  readonly lasts: () => boolean;
  readonly sendNext: () => Promise<number>;
}

async function sendInTurn({
  connections,
  lasts,
  sendNext,
}: Sending & { connections: number }): Promise<void> {
  async function connection(): Promise<void> {
    while (lasts()) {
      const pauseMs = await sendNext();
      if (pauseMs > 0) await wait(pauseMs);
    }
  }
  await Promise.all(Array.from({ length: connections }, connection));
}

async function sendOnTime({ perSecond, lasts, sendNext }: Sending & { perSecond: number }): Promise<void> {
  const startMs = performance.now();
  const sent: Promise<unknown>[] = [];
  while (lasts()) {
    sent.push(sendNext());
    await wait(Math.max(0, startMs + (sent.length * 1000) / perSecond - performance.now()));
  }
  await Promise.all(sent);
}

function createRecord() {
  const accepted: number[] = [];
  const refused: number[] = [];
  const statuses: Record<number, number> = {};
  let firstFailure = '';
  return {
    add({ status, text, ms }: { status: number; text: string; ms: number }): void {
      statuses[status] = (statuses[status] ?? 0) + 1;
      (status === 200 ? accepted : refused).push(ms);
      if (status !== 200) firstFailure ||= `${status} ${text.slice(0, 500)}`;
    },
    finish(seconds: number): LoadResult {
      const all = timesOf([...accepted, ...refused]);
      const both = { accepted: timesOf(accepted), refused: timesOf(refused) };
      return { ...all, ...both, failures: refused.length, statuses, firstFailure, seconds };
    },
  };
}

function timesOf(times: readonly number[]): Times {
  const [p50Ms, p99Ms, maxMs] = [quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1)];
  return { requests: times.length, p50Ms, p99Ms, maxMs };
}

async function createCalls({ send: what }: LoadJob): Promise<Call[]> {
  if ('paths' in what) return what.paths.map((path) => ({ path }));
  const lines = await makeLines(LINES, 1, what.nowMs);
  return toBatches(lines, what.eventsPerRequest).map((body) => ({ path: INGEST_PATH, body }));
}
