import type { Duplex } from 'node:stream';
import { readFrames, writeFrame } from './frame.ts';
import type { EngineReply, EngineRequest } from './protocol.ts';

/** What the engine itself said of a statement that failed. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly clickhouseCode: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.clickhouseCode = code;
  }
}

/** The engine process ended before it answered: whether the statement took effect is not known. */
export class EngineLostError extends Error {
  override readonly name = 'EngineLostError';
  /** The statement for which the process was ended, if it was for one; of a crash nobody knows. */
  readonly culprit: string | undefined;

  constructor(culprit?: string) {
    super('the engine process ended before it answered');
    this.culprit = culprit;
  }
}

export interface EngineAnswer {
  readonly bytes: Buffer;
  readonly elapsedMs: number;
}

/** One session of the engine process. */
export interface Channel {
  /**
   * One request after another: a later one waits for those before it.
   *
   * @throws EngineError with the engine's own message; EngineLostError when the process ends first
   */
  ask(request: EngineRequest, payload?: Uint8Array): Promise<EngineAnswer>;
}

/** @param lost the error of requests that get no answer any more */
export function createChannel(socket: Duplex, lost: () => EngineLostError): Channel {
  const waiting: { resolve: (answer: EngineAnswer) => void; reject: (error: Error) => void }[] = [];
  let ended = false;

  readFrames<EngineReply>(socket, ({ head, payload }) => {
    const first = waiting.shift();
    if (head.state === 'done') first?.resolve({ bytes: payload, elapsedMs: head.elapsedMs });
    else first?.reject(new EngineError(head.message, head.code));
  });
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    ended = true;
    for (const { reject } of waiting.splice(0)) reject(lost());
  });

  return {
    ask: (request, payload) =>
      new Promise((resolve, reject) => {
        if (ended) {
          reject(lost());
          return;
        }
        waiting.push({ resolve, reject });
        writeFrame(socket, request, payload);
      }),
  };
}
