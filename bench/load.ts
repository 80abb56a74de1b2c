import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { WireName } from './events.ts';

/** The load of a separate process, bounded in time and in number of requests. */
export interface LoadJob {
  readonly url: string;
  readonly connections: number;
  readonly secondsMax: number;
  readonly requestsMax: number;
  /** Pause of each connection between a response and its next request; 0: none. */
  readonly pauseMs: number;
  /** At most so many requests a second, at equal distances; default: as many as the connections can send. */
  readonly requestsPerSecond?: number;
  /** Requests with so many events each, at the present or another instant; or GETs of these paths in turn. */
  readonly send:
    | {
        readonly eventsPerRequest: number;
        readonly nowMs?: number;
        /** By a protocol of trial/wire.ts; default: NDJSON to the gateway's source. */
        readonly wire?: WireName;
      }
    | { readonly paths: readonly string[] };
}

export interface LoadResult {
  readonly requests: number;
  /** Responses other than 200. */
  readonly failures: number;
  /** Status and body of the first of them. */
  readonly firstFailure: string;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p98Ms: number;
  readonly p99Ms: number;
  /** Requests that were answered 503. */
  readonly rejected: number;
  /** The times of these answers. */
  readonly rejectedP98Ms: number;
}

// Time for the last responses, and for creating the events.
const GRACE_MS = 60_000;
export const EVENTS_PER_BATCH = 1_000;

const QUERIES = '/api/endpoints/query';
/** Cached for longer than a measurement takes. */
export const CACHED_PATH = `${QUERIES}/usage.api-counts?project=aurora&interval=daily`;
/** Never cached. */
export const LOGS_PATHS = ['aurora', 'basalt', 'cobalt'].map(
  (project) => `${QUERIES}/logs.all?project=${project}&project_tier=PRO`,
);

type LoadPart = Partial<LoadJob> & Pick<LoadJob, 'send'>;

/** Sends the load of `part`, by default on one connection without a pause. @throws if a request fails, since it was not measured then */
export async function load({ url }: { readonly url: string }, part: LoadPart): Promise<LoadResult> {
  const bounds = { secondsMax: 120, requestsMax: Number.MAX_SAFE_INTEGER };
  const result = await runLoad({ url, connections: 1, pauseMs: 0, ...bounds, ...part });
  if (result.failures === 0) return result;
  throw new Error(`${result.failures} requests failed; the first: ${result.firstFailure}`);
}

export async function sendBatches(
  server: { readonly url: string },
  bounds: Partial<LoadJob>,
): Promise<LoadResult> {
  return await load(server, { connections: 8, send: { eventsPerRequest: EVENTS_PER_BATCH }, ...bounds });
}

export function eventRate({ requests, seconds }: LoadResult): number {
  return (requests * EVENTS_PER_BATCH) / seconds;
}

/** Runs a job in a separate process, so that the load does not delay the measurement. */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  return await runChild<LoadJob, LoadResult>('load-process.ts', job, job.secondsMax * 1000 + GRACE_MS);
}

/** Runs a script of this folder with `job` in a separate process and resolves with its only message. */
export function runChild<Job extends object, Result>(
  script: string,
  job: Job,
  timeoutMs: number,
): Promise<Result> {
  const child = fork(join(import.meta.dirname, script), { timeout: timeoutMs });
  child.send(job);
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as Result)); // sent by that script alone
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`${script} ended with ${code} and no result`)));
  });
}

/** Starts a script of this folder with `job` in a separate process, which goes on after its only message. */
export async function startChild<Job extends object, Started>(
  script: string,
  job: Job,
): Promise<{ started: Started; pid: number; end: () => void }> {
  const child = fork(join(import.meta.dirname, script));
  child.send(job);
  const early = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${script} ended with ${code} and no message`)),
  );
  early.catch(() => {}); // it ends later, too
  const [started] = await Promise.race([once(child, 'message'), early]);
  const end = () => void child.kill();
  return { started: started as Started, pid: child.pid ?? 0, end }; // sent by that script alone
}
