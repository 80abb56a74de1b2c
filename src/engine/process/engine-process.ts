import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createChannel, type EngineAnswer, type EngineEnd, EngineLostError } from './channel.ts';
import type { Payload } from './frame.ts';
import { type EngineRequest, FIRST_SOCKET } from './protocol.ts';

/** One life of the engine: a process and a channel for each of its sessions. */
export interface EngineProcess {
  readonly pid: number | undefined;
  /** Asks one of its sessions, by number; see `createChannel`. */
  ask(channel: number, request: EngineRequest, payload?: Payload, streams?: boolean): Promise<EngineAnswer>;
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
 * Starts the engine process with `sessions` channels; none of its sessions is open yet. If it cannot be started, `ended` has the
 * reason.
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
  // The `pipe`s above are sockets, in the order of the descriptors. Without a free descriptor `stdio` is undefined.
  const stdio: typeof child.stdio | undefined = child.stdio;
  const sockets = (stdio?.slice(FIRST_SOCKET) ?? []) as Socket[];
  const channels = sockets.map((socket) => createChannel(socket, () => new EngineLostError(end)));
  return {
    pid: child.pid,
    async ask(number, request, payload, streams) {
      const channel = channels[number];
      if (channel === undefined) throw new EngineLostError(end, await ended);
      return await channel.ask(request, payload, streams).catch(async (error) => {
        if (!(error instanceof EngineLostError)) throw error;
        child.kill('SIGKILL'); // without this socket it serves no session
        // Its sockets close a moment before the process has ended.
        throw new EngineLostError(end, await ended);
      });
    },
    ended,
    kill(reason) {
      end ??= reason;
      child.kill('SIGKILL');
    },
  };
}
