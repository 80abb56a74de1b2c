import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createChannel, type EngineAnswer, EngineLostError } from './channel.ts';
import { type EngineRequest, FIRST_SOCKET } from './protocol.ts';

/** One life of the engine: a process and a channel for each of its sessions. */
export interface EngineProcess {
  readonly pid: number | undefined;
  /** Asks one of its sessions, by number; see `Channel.ask`. */
  ask(channel: number, request: EngineRequest, payload?: Uint8Array): Promise<EngineAnswer>;
  /** Resolves with how it ended, such as `SIGKILL` or `exit code 1`. */
  readonly ended: Promise<string>;
  /** Ends it at once; `culprit` is the statement for which it is ended. What it has acknowledged is on the disk. */
  kill(culprit?: string): void;
}

/** Starts the engine process with `sessions` channels; none of its sessions is open yet. */
export function startEngineProcess(sessions: number): EngineProcess {
  const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [main, String(sessions)], {
    // Input is the null device: the engine reads descriptor 0 whenever it inserts.
    stdio: ['ignore', 'ignore', 'inherit', ...Array.from({ length: sessions }, () => 'pipe' as const)],
  });
  let culprit: string | undefined;
  // The `pipe`s above are sockets, in the order of the descriptors.
  const sockets = child.stdio.slice(FIRST_SOCKET) as Socket[];
  const channels = sockets.map((socket) => createChannel(socket, () => new EngineLostError(culprit)));
  const ended = once(child, 'exit').then(
    ([code, signal]) => (signal === null ? `exit code ${code}` : String(signal)),
    (error: unknown) => `it could not be started: ${error}`,
  );
  return {
    pid: child.pid,
    async ask(number, request, payload) {
      const channel = channels[number];
      if (channel === undefined) throw new Error(`the engine process has no channel ${number}`);
      return await channel.ask(request, payload).catch(async (error) => {
        // Its sockets close a moment before it has ended, and until then it would seem to run.
        if (error instanceof EngineLostError) await ended;
        throw error;
      });
    },
    ended,
    kill(reason) {
      culprit ??= reason;
      child.kill('SIGKILL');
    },
  };
}
