import { extname } from 'node:path';
import { Piscina } from 'piscina';
import { TailraceError } from '../errors.ts';
import { asBuffer, type Batch, type BatchInput, decodeBatch, transferable } from './decode-batch.ts';
import type { Decoded } from './decode-worker.ts';
import { countMarks } from './wire-events.ts';

/** Decodes request bodies without blocking the event loop: small ones inline, large ones on a worker thread. */
export interface Decoder {
  /**
   * Decodes a body and passes the batch to `use`. A large body counts against `queueBytesMax` until `use` has settled, since
   * its rows take as much memory. The bytes of `input` must not be used afterwards.
   *
   * @throws TailraceError as `decodeBatch`; `overloaded` at once if the queue is full; `body_too_large` if decoding takes
   * more memory than the thread has; `engine_unavailable` if the thread ended for another reason; what `use` throws
   */
  decode<T>(input: BatchInput, use: (batch: Batch) => Promise<T>): Promise<T>;
  /** Ends the thread; bodies that are being decoded are rejected. */
  close(): Promise<void>;
}

export interface DecoderOptions {
  /** Bodies up to this size and number of marks (see `countMarks`) are decoded inline. */
  readonly inlineBytesMax: number;
  readonly inlineMarksMax: number;
  /** Large bodies under way; past it another is refused, since each takes memory. */
  readonly queueBytesMax: number;
  /** Heap of the thread; past it the thread ends and is replaced, and the body that filled it is refused. */
  readonly threadMemoryMbMax: number;
}

// The extension of this file: .ts in the repository, .js in the published package.
const WORKER = new URL(`decode-worker${extname(import.meta.url)}`, import.meta.url).href;

// A small young generation keeps the thread small: most objects of a body die at once.
const YOUNG_MB_MAX = 8;

export function createDecoder(options: DecoderOptions): Decoder {
  let pool: Piscina<BatchInput, Decoded> | undefined;
  let queuedBytes = 0;

  async function decodeOnThread(input: BatchInput): Promise<Batch> {
    pool ??= createPool(options.threadMemoryMbMax);
    const decoded = await pool.run(input, { transferList: transferable(input.bytes) }).catch(rejectLost);
    if ('batch' in decoded) return restore(decoded.batch);
    const { code, message, errors, cause } = decoded.failure;
    if (code === undefined) throw new Error(message, { cause });
    throw new TailraceError(code, message, { errors, cause });
  }

  return {
    async decode(input, use) {
      const { bytes, format } = input;
      const { length } = bytes;
      if (length <= options.inlineBytesMax && countMarks(bytes, format) <= options.inlineMarksMax)
        return await use(decodeBatch(input));
      if (queuedBytes >= options.queueBytesMax) {
        const message = `${options.queueBytesMax} bytes of events are waiting to be decoded already`;
        throw new TailraceError('overloaded', message);
      }
      queuedBytes += length;
      try {
        return await use(await decodeOnThread(input));
      } finally {
        queuedBytes -= length;
      }
    },
    async close() {
      await pool?.destroy();
    },
  };
}

/** One thread: what decoding takes at once is then bounded by its heap. It starts with the first large body. */
function createPool(memoryMbMax: number): Piscina<BatchInput, Decoded> {
  const pool = new Piscina<BatchInput, Decoded>({
    filename: WORKER,
    minThreads: 1,
    maxThreads: 1,
    atomics: 'disabled', // an idle thread would sleep in Atomics.wait and never return freed memory
    recordTiming: false,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX, maxOldGenerationSizeMb: memoryMbMax },
  });
  pool.on('error', () => {}); // a thread that failed while idle is replaced
  return pool;
}

/** @throws TailraceError saying whether to send the body again: one that filled the memory would fill it again */
function rejectLost(cause: unknown): never {
  const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  throw isTooLarge
    ? new TailraceError('body_too_large', 'the body takes too much memory to decode; send less at once', {
        cause,
      })
    : new TailraceError('engine_unavailable', 'the events could not be decoded; send them again', { cause });
}

function restore(batch: Batch): Batch {
  return { ...batch, rows: batch.rows.map((row) => ({ ...row, bytes: asBuffer(row.bytes) })) };
}
