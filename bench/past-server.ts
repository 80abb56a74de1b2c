import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readRss } from '../trial/server.ts';
import { type BenchData, withLinkedCopy } from './data.ts';
import type { Question } from './questions.ts';

/** The data to serve, and the clock. */
export interface PastJob extends BenchData {
  /** `steps`: advances by a millisecond per reading, so that no two questions are equal. `runs`: real time. */
  readonly clock: 'steps' | 'runs';
}

export interface PastStarted {
  readonly url: string;
  /** Projects by number of gateway requests, descending. */
  readonly projects: readonly string[];
}

/** A question for the engine, at a given instant or at that of the clock. */
export interface DirectQuestion extends Question {
  readonly nowMs?: number;
}

export interface DirectAnswer {
  readonly ms: number;
  /** A line of JSON for each row. */
  readonly lines: string;
}

/** A service with its clock at the end of its data, on a copy of them, in a separate process. */
export interface PastServer extends PastStarted {
  readonly pid: number;
  /** Queries its engine directly, without HTTP, parameters or cache; one at a time. */
  ask(question: DirectQuestion): Promise<DirectAnswer>;
  /** Resident memory now, in MB. */
  rssMb(): number;
}

// As bin/tailrace.js sets them; both are read before the program runs.
const ENV = { UV_THREADPOOL_SIZE: '32', JE_MALLOC_CONF: 'dirty_decay_ms:1000' };

/** Runs `work` beside such a service and ends it, also after a failure. */
export async function withPastServer<T>(
  data: BenchData,
  clock: PastJob['clock'],
  work: (server: PastServer) => Promise<T>,
): Promise<T> {
  return await withLinkedCopy(data, async (copy) => {
    const { root = join(import.meta.dirname, '..') } = data;
    const script = join(root, 'bench/past-process.ts');
    const child = fork(script, { cwd: root, env: { ...process.env, ...ENV } });
    const ended = once(child, 'exit'); // there is no 'close' if this side disconnects
    const kill = () => child.kill('SIGKILL');
    process.prependOnceListener('exit', kill); // before the copy that it writes to is removed
    /** Its next message, one per question. */
    const next = async <Message>() => {
      const early = ended.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`)));
      const [message] = await Promise.race([once(child, 'message'), early]);
      return message as Message;
    };
    try {
      child.send({ ...copy, clock } satisfies PastJob);
      const started = await next<PastStarted>();
      return await work({
        ...started,
        pid: child.pid ?? 0,
        ask(question) {
          child.send(question);
          return next<DirectAnswer>();
        },
        rssMb: () => readRss(child.pid ?? 0),
      });
    } finally {
      if (child.connected) child.disconnect();
      await ended;
      process.off('exit', kill);
    }
  });
}
