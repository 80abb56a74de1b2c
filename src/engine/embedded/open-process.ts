import { setTimeout as pause } from 'node:timers/promises';
import { createDeadline } from '../../lib/abort.ts';
import {
  type EngineAnswer,
  EngineError,
  EngineLostError,
  type EngineProcess,
  endProcess,
  startEngineProcess,
} from '../process/engine-process.ts';
import type { EngineRequest, Payload } from '../process/protocol.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { removeLostTokens } from './lost-tokens.ts';
import { CHANNEL, channelCount, type EmbeddedSessions, readerChannels } from './sessions.ts';

// The engine process of a killed service ends a moment later, and holds the store until then. The engine only prints
// that reason, so every failure to open is retried.
const OPENS_MAX = 5;
const OPEN_AGAIN_MS = 300;
const NOT_OPENED = 'Failed to create connection';

/**
 * Starts an engine process and opens its sessions: the internal ones, and so many `readers` for queries.
 *
 * @param signal ends the process when it aborts before the sessions are open
 * @throws EngineError when the engine cannot open the store; the signal's reason; EngineLostError. Then the process has
 *   ended
 */
export async function openProcess(
  sessions: EmbeddedSessions,
  readers: number,
  signal?: AbortSignal,
): Promise<EngineProcess> {
  signal?.throwIfAborted();
  const process = startEngineProcess(channelCount(readers), sessions.env);
  const end = () => process.kill();
  signal?.addEventListener('abort', end, { once: true });
  try {
    await process.ask(CHANNEL.control, sessions.control);
    // Not earlier: until here the process of a killed service may still hold the store.
    if ((await removeLostTokens(sessions.control.path)) > 0) {
      await endProcess(process);
      return await openProcess(sessions, readers, signal);
    }
    await Promise.all([
      process.ask(CHANNEL.inspector, sessions.inspector),
      process.ask(CHANNEL.writer, sessions.writer),
      ...Array.from({ length: readers }, (_, i) => readerChannels(i)).flatMap(({ stored, sandboxed }) => [
        process.ask(stored, sessions.stored),
        process.ask(sandboxed, sessions.sandboxed),
      ]),
    ]);
    return process;
  } catch (error) {
    await endProcess(process);
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

// A store that opened within a second may need ten when the machine is busy; a process that needs longer is stuck.
const OPEN_MS_MIN = 30_000;
const OPEN_TIMES_MAX = 10;

/**
 * Opens the first process of a service. Retries while the engine process of an earlier service holds the store.
 *
 * @param open starts a process and opens its sessions
 * @returns the process, and a function that starts the next ones within a timeout derived from the first one's time
 */
export async function openFirst(open: (signal?: AbortSignal) => Promise<EngineProcess>) {
  for (let opens = 1; ; opens++) {
    const startedMs = performance.now();
    try {
      const first = await open();
      const msMax = Math.round(Math.max(OPEN_MS_MIN, OPEN_TIMES_MAX * (performance.now() - startedMs)));
      return { first, start: (signal: AbortSignal) => openWithin(msMax, open, signal) };
    } catch (error) {
      const isClosed = error instanceof EngineError && error.message.startsWith(NOT_OPENED);
      if (!isClosed || opens >= OPENS_MAX) throw error;
      await pause(OPEN_AGAIN_MS);
    }
  }
}

/** @throws Error when it takes longer; then the process has ended */
async function openWithin(
  msMax: number,
  open: (signal: AbortSignal) => Promise<EngineProcess>,
  signal: AbortSignal,
): Promise<EngineProcess> {
  const late = () => new Error(`the engine process did not open the store within ${msMax} ms`);
  const deadline = createDeadline(msMax, late, signal);
  return await open(deadline.signal).finally(deadline.clear);
}

/** Closes the sessions once their requests are done; the process still runs. */
export async function closeSessions(process: EngineProcess, readers: number): Promise<void> {
  const channels = Array.from({ length: channelCount(readers) }, (_, channel) => channel);
  await Promise.allSettled(channels.map((channel) => process.ask(channel, { op: 'close' })));
}

/** Sends a request to a channel of the running process. */
export type Ask = (channel: number, request: EngineRequest, payload?: Payload) => Promise<EngineAnswer>;

// Not a query's tag, so no query is suspected if an internal statement is stuck.
const OWN_STATEMENT = 'an internal statement';

/**
 * Sends internal statements.
 *
 * @param msMax longest time of a statement; then it is stuck, and the process is replaced
 */
export function createAsk(supervisor: Supervisor, msMax: number): Ask {
  return async (channel, request, payload) => {
    const process = await supervisor.use();
    const replace = () => supervisor.replace(process, { reason: 'stuck', culprit: OWN_STATEMENT });
    const stuck = setTimeout(replace, msMax);
    return await process.ask(channel, request, payload).finally(() => clearTimeout(stuck));
  };
}

/** For idempotent statements: retries once on the next process if the process ends first. */
export function askAgain(ask: Ask): Ask {
  return (...args) =>
    ask(...args).catch((error: unknown) => {
      if (error instanceof EngineLostError) return ask(...args);
      throw error;
    });
}
