import type { Duplex } from 'node:stream';
import type { AnswerStream } from '../engine.ts';
import { type Frame, type Payload, readFrames, writeFrame } from './frame.ts';
import type { EngineReply, EngineRequest } from './protocol.ts';

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
