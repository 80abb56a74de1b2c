import { setTimeout as pause } from 'node:timers/promises';
import { CHANNEL, type EmbeddedSessions } from './embedded-sessions.ts';
import { type EngineAnswer, EngineError, EngineLostError } from './process/channel.ts';
import { type EngineProcess, startEngineProcess } from './process/engine-process.ts';
import type { EngineRequest } from './process/protocol.ts';
import type { Supervisor } from './process/supervisor.ts';

// The engine process of a service that was killed ends a moment later, and holds the store until then. The engine prints that
// reason, and does not say it to its caller, so every failure to open is tried again.
const OPENS_MAX = 5;
const OPEN_AGAIN_MS = 300;
const NOT_OPENED = 'Failed to create connection';

/**
 * Starts an engine process and opens its sessions: `readers` many for queries, beside those of the service itself.
 *
 * @throws EngineError when the engine cannot open the store; then the process has ended
 */
export async function openProcess(
  sessions: EmbeddedSessions,
  readers: readonly EngineRequest[],
): Promise<EngineProcess> {
  const process = startEngineProcess(CHANNEL.firstReader + readers.length);
  try {
    await process.ask(CHANNEL.control, sessions.control);
    await Promise.all([
      process.ask(CHANNEL.inspector, sessions.inspector),
      process.ask(CHANNEL.writer, sessions.writer),
      ...readers.map((reader, i) => process.ask(CHANNEL.firstReader + i, reader)),
    ]);
    return process;
  } catch (error) {
    process.kill();
    await process.ended;
    throw error;
  }
}

/**
 * The same for the first process of a service, which waits for that of the one before to end.
 *
 * @param open starts a process and opens its sessions
 */
export async function openFirst(open: () => Promise<EngineProcess>): Promise<EngineProcess> {
  for (let opens = 1; ; opens++) {
    try {
      return await open();
    } catch (error) {
      const isClosed = error instanceof EngineError && error.message.startsWith(NOT_OPENED);
      if (!isClosed || opens >= OPENS_MAX) throw error;
      await pause(OPEN_AGAIN_MS);
    }
  }
}

/** Closes the sessions when what they have been asked is done; the process still runs. */
export async function closeSessions(process: EngineProcess, readers: number): Promise<void> {
  const all = Array.from({ length: CHANNEL.firstReader + readers }, (_, channel) => channel);
  await Promise.allSettled(all.map((channel) => process.ask(channel, { op: 'close' })));
}

/** Asks one channel of whichever process runs. */
export type Ask = (channel: number, request: EngineRequest, payload?: Uint8Array) => Promise<EngineAnswer>;

export interface AskOptions {
  readonly supervisor: Supervisor;
  /** Longest wait for a process that is being started, ms. */
  readonly waitMs: number;
  /** Longest time of a statement; then it is stuck, and the process is replaced, ms. */
  readonly statementMsMax: number;
}

/** For statements of the service's own that may be repeated: one under which the process ended is sent to the next, once. */
export function createAsk({ supervisor, waitMs, statementMsMax }: AskOptions): Ask {
  async function ask(channel: number, request: EngineRequest, payload?: Uint8Array): Promise<EngineAnswer> {
    const process = await supervisor.use(AbortSignal.timeout(waitMs));
    const stuck = setTimeout(() => supervisor.replace(process, 'stuck'), statementMsMax);
    return await process.ask(channel, request, payload).finally(() => clearTimeout(stuck));
  }
  return (...args) =>
    ask(...args).catch((error: unknown) => {
      if (error instanceof EngineLostError) return ask(...args);
      throw error;
    });
}
