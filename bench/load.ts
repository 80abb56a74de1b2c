import { fork } from 'node:child_process';
import { join } from 'node:path';

/** What a process of its own sends: bounded in time and in number, whichever comes first. */
export interface LoadJob {
  readonly url: string;
  readonly connections: number;
  readonly secondsMax: number;
  readonly requestsMax: number;
  /** Pause of each connection between an answer and its next request; 0: none. */
  readonly pauseMs: number;
  /** The caller's key; without it the one of every scope. */
  readonly key?: string;
  /** What is sent: events in requests of so many, of now or of another instant; or GETs of these paths in turn. */
  readonly send:
    | { readonly eventsPerRequest: number; readonly nowMs?: number }
    | { readonly paths: readonly string[] };
}

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  /** How often each status came back. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Status and body of the first answer that was none of 200. */
  readonly firstFailure: string;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

// Time for the last answers, and for making the events.
const GRACE_MS = 60_000;

/** Runs a job in a process of its own, so that the measurement does not wait behind the measured. */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  return await runChild<LoadJob, LoadResult>('load-process.ts', job, job.secondsMax * 1000 + GRACE_MS);
}

/** Hands `job` to a script of this folder in a process of its own and resolves with its one message. */
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
