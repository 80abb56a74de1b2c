import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReferenceCost, ReferenceJob } from '../reference-process.ts';

/** A process of the engine's library alone: the work that figures are divided by. */
export interface Reference {
  /** The core time from the start of the process until the engine has answered a query, ms. */
  readonly startCoreMs: number;
  /** Does work so many times. @returns the mean core time, ms */
  measure(work: ReferenceJob['work'], times: number): Promise<number>;
}

/** Runs `work` beside such a process and ends it, also after a failure. */
export async function withReference<T>(work: (reference: Reference) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, '../reference-process.ts'));
  const ended = once(child, 'exit');
  const next = async () => {
    const early = ended.then(([code]) => Promise.reject(new Error(`the reference ended with ${code}`)));
    const [cost] = await Promise.race([once(child, 'message'), early]);
    return (cost as ReferenceCost).coreMs; // sent by that script alone
  };
  try {
    const startCoreMs = await next();
    return await work({
      startCoreMs,
      measure(work, times) {
        child.send({ work, times } satisfies ReferenceJob);
        return next();
      },
    });
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}
