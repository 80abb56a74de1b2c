import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TailraceError } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import { backOffMs } from '../../lib/task.ts';
import {
  createChannel,
  type EngineAnswer,
  type EngineEnd,
  EngineLostError,
  type EngineRequest,
  FIRST_SOCKET,
  type Payload,
} from './channel.ts';

/** One life of the engine: a process and a channel for each of its sessions. */
export interface EngineProcess {
  /** Asks one of its sessions, by number; see `createChannel`. */
  ask(channel: number, request: EngineRequest, payload?: Payload): Promise<EngineAnswer>;
  /** Resolves with how it ended, such as `SIGKILL` or `exit code 1`. */
  readonly ended: Promise<string>;
  /** Ends it at once. Acknowledged inserts are on the disk. */
  kill(end?: EngineEnd): void;
}

/** Kills a process and resolves when it has ended. */
export async function endProcess(process: EngineProcess): Promise<void> {
  process.kill();
  await process.ended;
}

/** The environment of the engine process; `undefined`: that of this process. */
export type EngineEnv = Readonly<Record<string, string>> | undefined;

// Threads of libuv: each session holds one while it runs a statement; file access needs a few more.
const SPARE_THREADS = 4;

/**
 * Starts the engine process with `sessions` channels; none of its sessions is open yet. If it cannot be started,
 * `ended` has the reason.
 */
export function startEngineProcess(
  sessions: number,
  env?: EngineEnv,
  command = process.execPath,
): EngineProcess {
  const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(command, [main, String(sessions)], {
    env: env && { ...env, UV_THREADPOOL_SIZE: String(sessions + SPARE_THREADS) },
    // Input is the null device: the engine reads descriptor 0 whenever it inserts.
    stdio: ['ignore', 'ignore', 'inherit', ...Array.from({ length: sessions }, () => 'pipe' as const)],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    // Not `once`: a kill that fails is reported here, too.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(`it could not be started: ${error.message}`);
    });
  });
  let end: EngineEnd | undefined;
  const lost = async () => {
    child.kill('SIGKILL'); // without one of its sockets it cannot serve all sessions
    return new EngineLostError(end, await ended); // its sockets close a moment before it has ended
  };
  // The `pipe`s above are sockets, in the order of the descriptors. Without a free descriptor `stdio` is undefined.
  const stdio: typeof child.stdio | undefined = child.stdio;
  const sockets = (stdio?.slice(FIRST_SOCKET) ?? []) as Socket[];
  const channels = sockets.map((socket) => createChannel(socket, lost));
  return {
    async ask(number, request, payload) {
      const channel = channels[number];
      if (channel === undefined) throw await lost();
      return await channel.ask(request, payload);
    },
    ended,
    kill(reason) {
      end ??= reason;
      child.kill('SIGKILL');
    },
  };
}

/** The end of an engine process, or a failed start. */
export interface EngineRestart {
  /** See `EngineEnd`; `ended`: a crash. */
  readonly reason: EngineEnd['reason'] | 'ended';
  /** How the process ended, such as `SIGKILL`. */
  readonly ended: string;
  /** Failed starts in a row; above 0 no engine process runs yet. */
  readonly failures: number;
  readonly error?: unknown;
}

export type Supervisor = ReturnType<typeof createSupervisor>;

export interface SupervisorOptions {
  /** Resolves when the sessions of the new process are open; kills the process if that fails or `signal` aborts. */
  readonly start: (signal: AbortSignal) => Promise<EngineProcess>;
  /** Longest wait of a caller for a process that is being started, ms. */
  readonly waitMs: number;
  /** Called for each process that ends, and for each start that fails. */
  readonly onRestart: (restart: EngineRestart) => void;
}

// A process that ends this soon did not recover: the next start backs off.
const STEADY_MS = 2_000;
// A process that opened the store served some callers, so the back-off stays short.
const ENDED_BACK_OFF = { firstMs: 250, longestMs: 500 };
const FAILED_BACK_OFF = { firstMs: 250, longestMs: 5_000 };
const LOST_AFTER_FAILURES = 5;

/**
 * Keeps one engine process running: if it ends, or is replaced, another is started on the same store.
 *
 * @param first the process that runs already
 */
export function createSupervisor(first: EngineProcess, options: SupervisorOptions) {
  const { start, waitMs, onRestart } = options;
  let running: EngineProcess | undefined;
  let reason: EngineRestart['reason'] = 'ended';
  let restarts = 0;
  let failures = 0; // in a row, of starts
  let quickEnds = 0;
  const closing = new AbortController();
  let next = take(first);

  /** Treats a process as the running one until it ends. @returns its successor */
  function take(process: EngineProcess): Promise<EngineProcess> {
    const startedMs = performance.now();
    running = process;
    failures = 0;
    const after = process.ended.then((ended) => {
      closing.signal.throwIfAborted();
      running = undefined;
      restarts++;
      quickEnds = performance.now() - startedMs < STEADY_MS ? quickEnds + 1 : 0;
      onRestart({ reason, ended, failures: 0 });
      reason = 'ended';
      return restart();
    });
    after.catch(() => {}); // waiting callers get the rejection
    return after;
  }

  /** Starts another process; retries until one runs or the service closes. */
  async function restart(): Promise<EngineProcess> {
    await pause(backOffMs(quickEnds, ENDED_BACK_OFF), closing.signal);
    for (;;) {
      try {
        const process = await start(closing.signal);
        if (closing.signal.aborted) await endProcess(process);
        closing.signal.throwIfAborted();
        next = take(process);
        return process;
      } catch (error) {
        closing.signal.throwIfAborted();
        failures++;
        onRestart({ reason: 'ended', ended: 'it could not be started', failures, error });
      }
      await pause(backOffMs(failures, FAILED_BACK_OFF), closing.signal);
    }
  }

  return {
    /** `lost`: the last starts all failed. Starts are still retried. */
    get state(): 'up' | 'restarting' | 'lost' {
      if (running !== undefined) return 'up';
      return failures >= LOST_AFTER_FAILURES ? 'lost' : 'restarting';
    },
    /** Undefined while a process is being killed or started. */
    get running(): EngineProcess | undefined {
      return running;
    },
    /** Restarts, failed ones included. */
    get restarts(): number {
      return restarts;
    },
    /**
     * The running process; waits for one that is starting.
     *
     * @throws TailraceError `engine_unavailable` when there is none in time; the signal's reason when it aborts first
     */
    async use(signal?: AbortSignal): Promise<EngineProcess> {
      if (running !== undefined) return running;
      if (failures >= LOST_AFTER_FAILURES || closing.signal.aborted) throw unavailable();
      const late = AbortSignal.timeout(waitMs);
      return await untilAborted(next, signal ? AbortSignal.any([signal, late]) : late).catch((error) => {
        signal?.throwIfAborted();
        throw unavailable(error);
      });
    },
    /** Kills the process if it is still the running one. */
    replace(process: EngineProcess, end: EngineEnd): void {
      if (process !== running) return;
      reason = end.reason;
      // Callers wait for the next process from here on: this one takes a moment to end.
      running = undefined;
      process.kill(end);
    },
    /** Stops restarts. @returns the running process, which the caller has to end; undefined if there is none */
    async close(): Promise<EngineProcess | undefined> {
      const last = running;
      running = undefined;
      closing.abort();
      if (last === undefined) await next.catch(() => {});
      return last;
    },
  };
}

/** @throws the signal's reason when it aborts first */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await untilAborted(promise, signal).finally(() => clearTimeout(timer));
}

function unavailable(cause?: unknown): TailraceError {
  const message = 'the engine is restarting; send the request again';
  return new TailraceError('engine_unavailable', message, { cause, retryAfterSeconds: 1 });
}
