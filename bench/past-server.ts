import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readRss } from '../trial/server.ts';
import type { BenchData } from './data.ts';
import { withLinkedCopy } from './linked-copy.ts';
import type { DirectAnswer, DirectQuestion, PastJob, PastStarted } from './past-process.ts';

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

/**
 * Runs `work` beside such a service and ends it, also after a failure.
 *
 * @param cpus the ids of the CPUs that it may use; by default all
 */
export async function withPastServer<T>(
  data: BenchData,
  clock: PastJob['clock'],
  work: (server: PastServer) => Promise<T>,
  cpus?: readonly number[],
): Promise<T> {
  return await withLinkedCopy(data, async (copy) => {
    // From the start, since the service's defaults follow the CPUs that it finds.
    const pinned = { execPath: 'taskset', execArgv: ['-c', cpus?.join(',') ?? '', process.execPath] };
    const child = fork(join(import.meta.dirname, 'past-process.ts'), {
      env: { ...process.env, ...ENV },
      ...(cpus !== undefined && pinned),
    });
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
