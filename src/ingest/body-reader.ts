import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { type BodyFormat, openBody } from './body.ts';
import { countMarks } from './body-cost.ts';
import { transferable } from './body-transfer.ts';
import type { Answer, Ask, Failure } from './body-worker.ts';
import type { SourceFields } from './choose-source.ts';
import type { EventRules } from './event.ts';
import { type ReadEvents, readEventsInSlices } from './read-events.ts';

/** Reads bodies without holding up the thread that answers requests: large ones in a thread of their own. */
export interface BodyReader {
  /**
   * Takes a body, whose bytes are not to be used afterwards.
   *
   * @throws TailraceError as `openBody`; `overloaded` at once when too much waits to be read already
   */
  open(bytes: Buffer, format: BodyFormat): Promise<Body>;
  /** Ends the thread; bodies that it holds are lost. */
  close(): Promise<void>;
}

/** A body whose events are known but not read yet; to be dropped in the end, read or not. */
export interface Body {
  readonly fields: SourceFields;
  read(source: Source, rules: EventRules): Promise<ReadEvents>;
  drop(): void;
}

export interface BodyReaderOptions {
  /** Bodies up to this size, and so many marks (body-cost.ts), are read at once: handing them over would cost more. */
  readonly inlineBytesMax: number;
  readonly inlineMarksMax: number;
  /** Bodies with the thread at one time; one more is turned away, since memory is what it would cost. */
  readonly queueBytesMax: number;
  /** Heap of the thread; past it the thread ends, and the body that was too much for it is refused. */
  readonly threadMemoryMbMax: number;
}

export function createBodyReader(options: BodyReaderOptions): BodyReader {
  const { inlineBytesMax, inlineMarksMax, queueBytesMax, threadMemoryMbMax } = options;
  let thread: Thread | undefined;
  let queuedBytes = 0;
  let bodies = 0;

  function getThread(): Thread {
    thread ??= startThread(threadMemoryMbMax, () => {
      thread = undefined; // the next large body starts another
    });
    return thread;
  }

  return {
    async open(bytes, format) {
      if (bytes.length <= inlineBytesMax && countMarks(bytes, format) <= inlineMarksMax)
        return openHere(bytes, format);
      if (queuedBytes >= queueBytesMax) {
        throw new TailraceError(
          'overloaded',
          `${queueBytesMax} bytes of events are waiting to be read already`,
        );
      }
      const { length } = bytes;
      queuedBytes += length;
      try {
        return await openThere(getThread(), ++bodies, {
          bytes,
          format,
          onDropped: () => (queuedBytes -= length),
        });
      } catch (error) {
        queuedBytes -= length;
        throw error;
      }
    },
    async close() {
      await thread?.end();
    },
  };
}

function openHere(bytes: Buffer, format: BodyFormat): Body {
  const { fields, events } = openBody(bytes, format);
  return { fields, read: (source, rules) => readEventsInSlices(events, source, rules), drop: () => {} };
}

async function openThere(
  thread: Thread,
  body: number,
  { bytes, format, onDropped }: { bytes: Buffer; format: BodyFormat; onDropped: () => void },
): Promise<Body> {
  const fields = await thread.ask({ body, ask: 'open', bytes, format }, transferable(bytes));
  return {
    fields: fields as SourceFields, // what body-worker.ts answers to `open`
    async read(source, rules) {
      const { rows, ...counts } = (await thread.ask({ body, ask: 'read', source, rules })) as ReadEvents; // and to `read`
      return { ...counts, rows: rows.map((row) => ({ ...row, bytes: asBuffer(row.bytes) })) };
    },
    drop() {
      onDropped();
      thread.tell({ body, ask: 'drop' });
    },
  };
}

/** A Buffer arrives from another thread as a plain Uint8Array. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

interface Thread {
  ask(ask: Ask, transfer?: ArrayBuffer[]): Promise<unknown>;
  tell(ask: Ask): void;
  end(): Promise<void>;
}

// The extension of this file: .ts as it stands in the repository, .js in the published package.
const SCRIPT = new URL(`body-worker${extname(import.meta.url)}`, import.meta.url);

// A small young generation keeps the thread's memory small: most of what is made while lines are read dies at once.
const YOUNG_MB_MAX = 8;

function startThread(memoryMbMax: number, onEnd: () => void): Thread {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB_MAX, maxOldGenerationSizeMb: memoryMbMax };
  const worker = new Worker(SCRIPT, { resourceLimits });
  // Answers come in the order of what was asked.
  const waiting: PromiseWithResolvers<unknown>[] = [];
  let ended: TailraceError | undefined;

  worker.on('message', (answer: Answer) => {
    const asked = waiting.shift();
    if ('failure' in answer) asked?.reject(toError(answer.failure));
    else asked?.resolve(answer.value);
  });
  const fail = (cause?: unknown) => {
    if (ended !== undefined) return; // an error is followed by the exit
    ended = new TailraceError('engine_unavailable', 'the events could not be read; send them again', {
      cause,
    });
    onEnd();
    // Sent again, the body that filled the memory would fill it again.
    if (isOutOfMemory(cause)) waiting.shift()?.reject(tooLarge(cause));
    for (const asked of waiting.splice(0)) asked.reject(ended);
  };
  worker.on('error', fail);
  worker.on('exit', () => fail());
  worker.unref(); // by itself it keeps no process alive

  return {
    ask(ask, transfer = []) {
      if (ended !== undefined) return Promise.reject(ended);
      const asked = Promise.withResolvers<unknown>();
      waiting.push(asked);
      worker.postMessage(ask, transfer);
      return asked.promise;
    },
    tell: (ask) => worker.postMessage(ask),
    async end() {
      await worker.terminate();
    },
  };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(cause: unknown): TailraceError {
  return new TailraceError('body_too_large', 'the body takes too much memory to read; send less at once', {
    cause,
  });
}

function toError({ code, message, cause }: Failure): Error {
  return code === undefined ? new Error(message, { cause }) : new TailraceError(code, message, { cause });
}
