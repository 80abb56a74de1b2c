import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** `check`: only what the sandbox does. `analyse`: all but the run. `ask`: the answer. */
export type TrialMode = 'check' | 'analyse' | 'ask';

/** What came of a text: an answer, an error of the service, or nothing in time, for which the process was killed. */
export interface Outcome {
  /** Until the engine had ended, which may be later than the answer. */
  readonly ms: number;
  readonly rows?: string;
  /** Of a TailraceError; `unexpected` for another, `killed` for none in time, `died` for the end of the process. */
  readonly code?: string;
  readonly message?: string;
}

/** Tries texts in a process of its own, which is killed when one does not return. */
export interface Trial {
  try(mode: TrialMode, sql: string, killAfterMs: number): Promise<Outcome>;
  close(): void;
}

export function createTrial(limits: { timeoutMs?: number; memoryBytesMax?: number } = {}): Trial {
  const args = [limits.timeoutMs, limits.memoryBytesMax].flatMap((limit) => limit ?? []).map(String);
  let child: ChildProcess | undefined;

  async function start(): Promise<ChildProcess> {
    const started = fork(join(import.meta.dirname, 'trial-process.ts'), args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    await once(started, 'message');
    return started;
  }

  return {
    async try(mode, sql, killAfterMs) {
      child ??= await start();
      const current = child;
      const outcome = await new Promise<Outcome>((resolve) => {
        const late = setTimeout(() => end({ code: 'killed', ms: killAfterMs }), killAfterMs);
        const died = () => end({ code: 'died', ms: 0 });
        function end(result: Outcome): void {
          clearTimeout(late);
          current.off('message', end).off('exit', died);
          resolve(result);
        }
        current.once('message', end).once('exit', died);
        current.send({ mode, sql });
      });
      if (outcome.code === 'killed' || outcome.code === 'died') {
        current.kill('SIGKILL');
        child = undefined;
      }
      return outcome;
    },
    close: () => child?.disconnect(),
  };
}
