import type { Duplex } from 'node:stream';
import type { RowBlocks, RowText } from '../engine.ts';

/**
 * Requests of the service to the engine process. Each session has its own socket and handles one request after another on
 * it, so a message needs no id and a large answer delays no other session.
 */
export type EngineRequest =
  /** Opens the session; `statements` run on it first. */
  | {
      readonly op: 'open';
      readonly path: string;
      readonly connectionArgs: readonly string[];
      readonly statements: readonly string[];
    }
  /** The payload is the statement. */
  | { readonly op: 'query'; readonly format: string }
  | InsertRequest
  /** Resident memory of the process, as the payload's decimal text, bytes. */
  | { readonly op: 'memory' }
  | { readonly op: 'close' };

/** The payload is the rows: text, or blocks (row-block.ts), one after the other. `token` deduplicates. */
export type InsertRequest = {
  readonly op: 'insert';
  readonly table: string;
  readonly token: string;
} & (Omit<RowText, 'bytes'> | Omit<RowBlocks, 'blocks'>);

interface Done {
  readonly elapsedMs: number;
  /** Core time, see main.ts. */
  readonly coreMs: number;
  /** Rows in a query's result. */
  readonly rows: number;
}

/** The payload of a `done` is what the engine returned. */
export type EngineReply =
  | ({ readonly state: 'done' } & Done)
  | { readonly state: 'failed'; readonly message: string; readonly code?: number };

/** The first descriptor of the engine process that is a session's socket; before it come input, output and errors. */
export const FIRST_SOCKET = 3;

/** One message between the service and the engine process: a small head as JSON, then raw bytes. */
export interface Frame<Head> {
  readonly head: Head;
  readonly payload: Buffer;
}

// Before each message: the lengths of head and payload in bytes, each unsigned 32-bit little-endian.
const LENGTHS_BYTES = 8;
// Far above any error message and any answer: they detect bytes that are not a length.
const HEAD_BYTES_MAX = 64 * 1024 * 1024;
const PAYLOAD_BYTES_MAX = 2 ** 31;
const EMPTY = Buffer.alloc(0);

/** Bytes in one piece, or in several that follow each other. */
export type Payload = Uint8Array | readonly Uint8Array[];

/** Sends one message. The payload must not change until it has been sent. */
export function writeFrame(socket: Duplex, head: unknown, payload: Payload = EMPTY): void {
  const pieces = payload instanceof Uint8Array ? [payload] : payload;
  const payloadBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(payloadBytes, 4);
  socket.cork(); // one write of the operating system
  for (const piece of [lengths, text, ...pieces]) socket.write(piece);
  socket.uncork();
}

/**
 * Calls `onFrame` for each whole message. A payload is a copy, so it does not retain the socket's buffers.
 *
 * @param onFault called once if the bytes are not a message; nothing more is read then
 */
export function readFrames<Head>(
  socket: Duplex,
  onFrame: (frame: Frame<Head>) => void,
  onFault: (fault: Error) => void,
): void {
  const targets = fillTargets(onFrame);
  let target = targets.next().value;
  let filled = 0;

  function take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(target, filled, at);
      filled += copied;
      at += copied;
      for (; filled === target.length; filled = 0) target = targets.next().value;
    }
  }

  function onData(chunk: Buffer): void {
    try {
      take(chunk);
    } catch (error) {
      socket.off('data', onData);
      onFault(error instanceof Error ? error : new Error(String(error)));
    }
  }
  socket.on('data', onData);
}

/** Yields the buffers to fill with the next bytes, one after another. */
function* fillTargets<Head>(onFrame: (frame: Frame<Head>) => void): Generator<Buffer, never> {
  for (;;) {
    const lengths = Buffer.alloc(LENGTHS_BYTES);
    yield lengths;
    const headBytes = lengths.readUInt32LE(0);
    const payloadBytes = lengths.readUInt32LE(4);
    if (headBytes > HEAD_BYTES_MAX || payloadBytes > PAYLOAD_BYTES_MAX)
      throw new Error(`not a message: a head of ${headBytes} bytes, a payload of ${payloadBytes}`);
    const head = Buffer.allocUnsafe(headBytes);
    yield head;
    const payload = Buffer.allocUnsafe(payloadBytes);
    yield payload;
    onFrame({ head: JSON.parse(head.toString()) as Head, payload });
  }
}

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

export interface EngineAnswer extends Done {
  readonly bytes: Buffer;
}

/** One session of the engine process. @param lost creates the error of requests that will get no reply */
export function createChannel(socket: Duplex, lost: () => Promise<EngineLostError>) {
  const waiting: PromiseWithResolvers<EngineAnswer>[] = [];
  let ended = false;

  const onReply = ({ head, payload }: Frame<EngineReply | null>) => {
    if (head?.state === 'done') {
      const { elapsedMs, coreMs, rows } = head;
      waiting.shift()?.resolve({ bytes: payload, elapsedMs, coreMs, rows });
    } else if (head?.state === 'failed') waiting.shift()?.reject(new EngineError(head.message, head.code));
    else throw new Error('not a reply');
  };
  // After a malformed message the stream is out of step, and its writer cannot be trusted.
  readFrames<EngineReply | null>(socket, onReply, (fault) => socket.destroy(fault));
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    ended = true;
    for (const { reject } of waiting.splice(0)) void lost().then(reject);
  });

  return {
    /**
     * One request after another: a later one waits for those before it.
     *
     * @throws EngineError with the engine's own message; EngineLostError when the process ends first
     */
    async ask(request: EngineRequest, payload?: Payload): Promise<EngineAnswer> {
      if (ended) throw await lost();
      const answer = Promise.withResolvers<EngineAnswer>();
      waiting.push(answer);
      writeFrame(socket, request, payload);
      return await answer.promise;
    },
  };
}
