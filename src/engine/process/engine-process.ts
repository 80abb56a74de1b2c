import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { AnswerStream } from '../engine.ts';
import {
  type EngineReply,
  type EngineRequest,
  FIRST_SOCKET,
  type Frame,
  type Payload,
  readFrames,
  writeFrame,
} from './protocol.ts';

/** The engine's own error of a failed statement. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly clickhouseCode: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.clickhouseCode = code;
  }
}

/** Why the service killed the engine process. */
export interface EngineEnd {
  /** `stuck`: a statement outlived its deadline and its kill; `silent`: no heartbeat; `memory`: past its bound. */
  readonly reason: 'stuck' | 'silent' | 'memory';
  /** The statement that was stuck: a query's tag, or a name that no query has. */
  readonly culprit?: string;
}

/** The engine process ended before its reply: it is unknown whether the statement took effect. */
export class EngineLostError extends Error {
  override readonly name = 'EngineLostError';
  /** Undefined after a crash, which any running statement may have caused. */
  readonly end: EngineEnd | undefined;

  /** @param how it ended, such as `SIGKILL` */
  constructor(end?: EngineEnd, how?: string) {
    super(`the engine process ended before it answered${how === undefined ? '' : `: ${how}`}`);
    this.end = end;
  }
}

export interface EngineAnswer {
  readonly bytes: Buffer;
  readonly elapsedMs: number;
  readonly coreMs: number;
  readonly rows: number;
  /** Has the bytes of a large answer, if `ask` allows it. */
  readonly stream?: AnswerStream | undefined;
}

interface Waiting {
  readonly resolve: (answer: EngineAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly streams: boolean;
}

/** One session of the engine process. @param lost creates the error of requests that will get no reply */
export function createChannel(socket: Duplex, lost: () => EngineLostError) {
  const waiting: Waiting[] = [];
  let ended = false;

  // After a malformed message the stream is out of step, and its writer cannot be trusted.
  const onFault = (fault: Error) => socket.destroy(fault);
  const onReply = ({ head, payload, stream }: Frame<EngineReply | null>) => {
    if (head?.state === 'done') {
      const { elapsedMs, coreMs, rows } = head;
      waiting.shift()?.resolve({ bytes: payload, stream, elapsedMs, coreMs, rows });
    } else if (head?.state === 'failed') waiting.shift()?.reject(new EngineError(head.message, head.code));
    else throw new Error('not a reply');
  };
  readFrames<EngineReply | null>(socket, onReply, onFault, () => waiting[0]?.streams === true);
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    ended = true;
    for (const { reject } of waiting.splice(0)) reject(lost());
  });

  return {
    /**
     * One request after another: a later one waits for those before it.
     *
     * @param streams whether a large answer may have a `stream`: then it resolves as soon as the engine has computed it
     * @throws EngineError with the engine's own message; EngineLostError when the process ends first
     */
    async ask(request: EngineRequest, payload?: Payload, streams = false): Promise<EngineAnswer> {
      if (ended) throw lost();
      const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
      waiting.push({ resolve, reject, streams });
      writeFrame(socket, request, payload);
      return await promise;
    },
  };
}

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
