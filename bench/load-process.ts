import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, INGEST_PATH, send } from '../trial/http.ts';
import { ALL_WIRES, makeLines, makeTrialEvents, toBatches } from './events.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './report.ts';

// Enough that bytes do not repeat soon; few enough to be created in a second.
const LINES = 20_000;
const REJECTED = 503;
const STORED_BY_LOKI = 204;

process.once('message', async (job: LoadJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

async function run(job: LoadJob): Promise<LoadResult> {
  const calls = await createCalls(job);
  const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
  const times: number[] = [];
  const rejectedMs: number[] = [];
  const startMs = performance.now();
  let next = 0;
  let failures = 0;
  let firstFailure = '';

  async function sendNext(): Promise<void> {
    const dueMs = startMs + (1000 * next) / (job.requestsPerSecond ?? Number.POSITIVE_INFINITY);
    const call = calls[next++ % calls.length];
    if (call === undefined) return;
    if (dueMs > performance.now()) await wait(dueMs - performance.now());
    const sentMs = performance.now();
    const { status, text } = await send(job.url, agent, call);
    const tookMs = performance.now() - sentMs;
    (status === REJECTED ? rejectedMs : times).push(tookMs);
    if (status === 200 || status === STORED_BY_LOKI) return;
    failures++;
    firstFailure ||= `${status} ${text.slice(0, 500)}`;
  }

  async function connection(): Promise<void> {
    while (performance.now() < startMs + job.secondsMax * 1000 && next < job.requestsMax) {
      await sendNext();
      if (job.pauseMs > 0) await wait(job.pauseMs);
    }
  }

  await Promise.all(Array.from({ length: job.connections }, connection));
  agent.destroy();
  const [p50Ms, p98Ms, p99Ms] = [0.5, 0.98, 0.99].map((share) => quantile(times, share));
  const rejected = { rejected: rejectedMs.length, rejectedP98Ms: quantile(rejectedMs, 0.98) };
  const seconds = (performance.now() - startMs) / 1000;
  const result = { requests: times.length, failures, firstFailure, seconds, ...rejected };
  return { ...result, p50Ms: p50Ms ?? Number.NaN, p98Ms: p98Ms ?? Number.NaN, p99Ms: p99Ms ?? Number.NaN };
}

async function createCalls({ send: what }: LoadJob): Promise<Call[]> {
  if ('paths' in what) return what.paths.map((path) => ({ path }));
  if (what.wire !== undefined) {
    const { path, type, write } = ALL_WIRES[what.wire];
    const events = makeTrialEvents(LINES, what.nowMs ?? Date.now());
    const size = what.eventsPerRequest;
    return Array.from({ length: Math.ceil(LINES / size) }, (_, i) => {
      const batch = events.slice(i * size, (i + 1) * size);
      return { path, body: Buffer.from(write(batch)), headers: { 'content-type': type } };
    });
  }
  const lines = await makeLines(LINES, 1, what.nowMs);
  return toBatches(lines, what.eventsPerRequest).map((body) => ({ path: INGEST_PATH, body }));
}
