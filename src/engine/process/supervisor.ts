import { setTimeout as pauseFor } from 'node:timers/promises';
import { TailraceError } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import type { EngineProcess } from './engine-process.ts';

/** Why an engine process was replaced. */
export interface EngineRestart {
  /** `stuck`: a statement outlived its deadline and its kill; `silent`: no heartbeat; `memory`: past its bound; `ended`: a crash. */
  readonly reason: 'stuck' | 'silent' | 'memory' | 'ended';
  /** How the process ended, such as `SIGKILL`. */
  readonly ended: string;
  /** Starts that failed in a row; above 0 the engine is not back yet. */
  readonly failures: number;
  readonly error?: unknown;
}

/** Keeps one engine process running: when it ends, or has to be ended, another is started on the same store. */
export interface Supervisor {
  /** `lost`: the last starts all failed. It is still tried, and the state changes when one succeeds. */
  readonly state: 'up' | 'restarting' | 'lost';
  /** The process that runs; undefined while one is being started. */
  readonly running: EngineProcess | undefined;
  /** Times that a process has ended and another was to take its place. */
  readonly restarts: number;
  /**
   * The process that runs; waits for one that is being started.
   *
   * @throws TailraceError `engine_unavailable` when there is none in time; the signal's reason when it aborts first
   */
  use(signal: AbortSignal): Promise<EngineProcess>;
  /** Ends the process, if it still is the one that runs. */
  replace(process: EngineProcess, reason: EngineRestart['reason'], culprit?: string): void;
  /** Starts no other; the process that runs is the caller's to end. Undefined when none runs. */
  close(): EngineProcess | undefined;
}

export interface SupervisorOptions {
  /** Resolves when the sessions of the new process are open; ends the process when they cannot be opened. */
  readonly start: () => Promise<EngineProcess>;
  /** Longest wait of a caller for a process that is being started, ms. */
  readonly waitMs: number;
  /** Called for each process that ends, and for each start that fails. */
  readonly onRestart: (restart: EngineRestart) => void;
  /** ms. */
  readonly now?: () => number;
  /** Resolves after that many ms; rejects when the signal aborts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

// A process that ends within this time of its start did not recover: the next one is started later.
const STEADY_MS = 2_000;
const BACK_OFF_MS = 250;
const BACK_OFF_MS_MAX = 5_000;
const LOST_AFTER_FAILURES = 5;

/** @param first the process that runs already */
export function createSupervisor(first: EngineProcess, options: SupervisorOptions): Supervisor {
  const { start, waitMs, onRestart, now = () => performance.now(), pause = pauseUnlessAborted } = options;
  let current: Promise<EngineProcess> = Promise.resolve(first);
  let state: Supervisor['state'] = 'up';
  let running: EngineProcess | undefined = first;
  let reason: EngineRestart['reason'] = 'ended';
  let restarts = 0;
  let quickEnds = 0;
  const closing = new AbortController();

  function watch(process: EngineProcess): void {
    const startedMs = now();
    void process.ended.then((ended) => {
      if (closing.signal.aborted) return;
      state = 'restarting';
      running = undefined;
      restarts++;
      quickEnds = now() - startedMs < STEADY_MS ? quickEnds + 1 : 0;
      current = restart(quickEnds);
      current.catch(() => {}); // each caller that waits hears of it
      onRestart({ reason, ended, failures: 0 });
      reason = 'ended';
    });
  }

  /** Tries until a process runs, or the service closes. */
  async function restart(earlier: number): Promise<EngineProcess> {
    for (let failures = 0; ; failures++) {
      await pause(backOff(earlier + failures), closing.signal);
      const error = await start().then(take, (cause: unknown) => cause);
      if (running !== undefined) return running;
      closing.signal.throwIfAborted();
      if (failures + 1 >= LOST_AFTER_FAILURES) state = 'lost';
      onRestart({ reason: 'ended', ended: 'it could not be started', failures: failures + 1, error });
    }
  }

  function take(process: EngineProcess): void {
    if (closing.signal.aborted) {
      process.kill();
      return;
    }
    running = process;
    state = 'up';
    watch(process);
  }

  watch(first);
  return {
    get state() {
      return state;
    },
    get running() {
      return running;
    },
    get restarts() {
      return restarts;
    },
    async use(signal) {
      if (running !== undefined) return running;
      if (state === 'lost' || closing.signal.aborted) throw unavailable();
      const late = AbortSignal.timeout(waitMs);
      return await untilAborted(current, AbortSignal.any([signal, late])).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error instanceof TailraceError ? error : unavailable(error);
      });
    },
    replace(process, why, culprit) {
      if (process !== running) return;
      reason = why;
      process.kill(culprit);
    },
    close() {
      const last = running;
      running = undefined;
      closing.abort();
      return last;
    },
  };
}

function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<unknown> {
  return pauseFor(ms, undefined, { signal });
}

function backOff(times: number): number {
  return times === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** (times - 1), BACK_OFF_MS_MAX);
}

const RETRY_AFTER_SECONDS = 1;

function unavailable(cause?: unknown): TailraceError {
  return new TailraceError('engine_unavailable', 'the engine is restarting; send the request again', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
