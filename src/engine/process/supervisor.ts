import { setTimeout as pauseFor } from 'node:timers/promises';
import { TailraceError } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import type { EngineEnd } from './channel.ts';
import type { EngineProcess } from './engine-process.ts';

/** Why an engine process was replaced. */
export interface EngineRestart {
  /** See `EngineEnd`; `ended`: a crash. */
  readonly reason: EngineEnd['reason'] | 'ended';
  /** How the process ended, such as `SIGKILL`. */
  readonly ended: string;
  /** Failed starts in a row; above 0 the engine is not back yet. */
  readonly failures: number;
  readonly error?: unknown;
}

/** Keeps one engine process running: if it ends, or is replaced, another is started on the same store. */
export interface Supervisor {
  /** `lost`: the last starts all failed. Starts are still retried. */
  readonly state: 'up' | 'restarting' | 'lost';
  /** Undefined while a process is being killed or started. */
  readonly running: EngineProcess | undefined;
  /** Restarts, failed ones included. */
  readonly restarts: number;
  /**
   * The running process; waits for one that is starting.
   *
   * @throws TailraceError `engine_unavailable` when there is none in time; the signal's reason when it aborts first
   */
  use(signal?: AbortSignal): Promise<EngineProcess>;
  /** Kills the process if it is still the running one. */
  replace(process: EngineProcess, end: EngineEnd): void;
  /** Stops restarts. @returns the running process, which the caller has to end; undefined if there is none */
  close(): Promise<EngineProcess | undefined>;
}

export interface SupervisorOptions {
  /** Resolves when the sessions of the new process are open; kills the process if that fails or `signal` aborts. */
  readonly start: (signal: AbortSignal) => Promise<EngineProcess>;
  /** Longest wait of a caller for a process that is being started, ms. */
  readonly waitMs: number;
  /** Called for each process that ends, and for each start that fails. */
  readonly onRestart: (restart: EngineRestart) => void;
  /** ms. */
  readonly now?: () => number;
  /** Resolves after that many ms; rejects when the signal aborts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

// A process that ends this soon did not recover: the next start backs off.
const STEADY_MS = 2_000;
const BACK_OFF_MS = 250;
// A process that opened the store served some callers, so the back-off stays short.
const ENDED_BACK_OFF_MS_MAX = 500;
const FAILED_BACK_OFF_MS_MAX = 5_000;
const LOST_AFTER_FAILURES = 5;

/** @param first the process that runs already */
export function createSupervisor(first: EngineProcess, options: SupervisorOptions): Supervisor {
  const { start, waitMs, onRestart, now = () => performance.now(), pause = pauseUnlessAborted } = options;
  let state: Supervisor['state'] = 'up';
  let running: EngineProcess | undefined;
  let reason: EngineRestart['reason'] = 'ended';
  let restarts = 0;
  let quickEnds = 0;
  const closing = new AbortController();
  /** The next process. */
  let next = take(first);

  /** Makes a process the running one until it ends. @returns its successor */
  function take(process: EngineProcess): Promise<EngineProcess> {
    const startedMs = now();
    running = process;
    state = 'up';
    const after = process.ended.then((ended) => {
      closing.signal.throwIfAborted();
      running = undefined;
      state = 'restarting';
      restarts++;
      quickEnds = now() - startedMs < STEADY_MS ? quickEnds + 1 : 0;
      onRestart({ reason, ended, failures: 0 });
      reason = 'ended';
      return restart();
    });
    after.catch(() => {}); // waiting callers get the rejection
    return after;
  }

  /** Starts another, and tries again until one runs or the service closes. */
  async function restart(): Promise<EngineProcess> {
    await pause(backOff(quickEnds, ENDED_BACK_OFF_MS_MAX), closing.signal);
    for (let failures = 1; ; failures++) {
      try {
        const process = await startUnlessAborted(start, closing.signal);
        next = take(process);
        return process;
      } catch (error) {
        closing.signal.throwIfAborted();
        if (failures >= LOST_AFTER_FAILURES) state = 'lost';
        onRestart({ reason: 'ended', ended: 'it could not be started', failures, error });
      }
      await pause(backOff(failures, FAILED_BACK_OFF_MS_MAX), closing.signal);
    }
  }

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
      return await untilAborted(next, withTimeout(signal, waitMs)).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw unavailable(error);
      });
    },
    replace(process, end) {
      if (process !== running) return;
      reason = end.reason;
      // Callers wait for the next process from here on: this one takes a moment to end.
      running = undefined;
      state = 'restarting';
      process.kill(end);
    },
    async close() {
      const last = running;
      running = undefined;
      closing.abort();
      if (last === undefined) await next.catch(() => {});
      return last;
    },
  };
}

/** @throws the signal's reason when it has aborted by then; the process has ended then */
async function startUnlessAborted(
  start: SupervisorOptions['start'],
  signal: AbortSignal,
): Promise<EngineProcess> {
  const process = await start(signal);
  if (!signal.aborted) return process;
  process.kill();
  await process.ended;
  throw signal.reason;
}

function withTimeout(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const late = AbortSignal.timeout(ms);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}

function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<unknown> {
  return pauseFor(ms, undefined, { signal });
}

function backOff(times: number, msMax: number): number {
  return times === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** (times - 1), msMax);
}

const RETRY_AFTER_SECONDS = 1;

function unavailable(cause?: unknown): TailraceError {
  return new TailraceError('engine_unavailable', 'the engine is restarting; send the request again', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
