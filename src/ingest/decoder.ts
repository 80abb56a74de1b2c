import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { createSessionPool, type PoolWork } from '../engine/lanes.ts';
import { TailraceError } from '../errors.ts';
import { transferable } from '../lib/memory.ts';
import { type Batch, type BatchInput, decodeBatch } from './decode-batch.ts';
import type { Decoded } from './decode-worker.ts';
import { isSlowFilter } from './filter/filter.ts';
import { countMarks } from './wire-events.ts';

export type Decoder = ReturnType<typeof createDecoder>;

/**
 * Bodies within the first two limits are decoded inline, unless their source has slow rules: in a few ms, even one built
 * to be slow. Past the third, the heap of the thread, the thread is replaced, and the body that filled it is rejected.
 */
export const DECODER_LIMITS = { inlineBytesMax: 64 * 1024, inlineMarksMax: 1_000, threadMemoryMbMax: 1_024 };

// The extension of this file: .ts in the repository, .js in the published package.
const WORKER = new URL(`decode-worker${extname(import.meta.url)}`, import.meta.url).href;

// With 8 or 16, decoding an event takes 5 to 10 core µs more, since too many objects survive; with 64 no fewer.
const YOUNG_MB_MAX = 32;

// How many times its largest size a body may become inline when each event repeats what several share: a usual one doubles.
const INLINE_GROWTH_MAX = 8;

// One body at a time. Backpressure bounds the bodies, and a caller that gives up sends its events again.
const THREAD = 'thread';
const TURNS = {
  queueMax: Number.MAX_SAFE_INTEGER,
  queuePerLaneMax: Number.MAX_SAFE_INTEGER,
  queueTimeoutMs: 60_000,
};
const BODIES: PoolWork = { one: 'body', many: 'bodies', mayHold: () => true };
const ALWAYS = new AbortController().signal;

/** Decodes request bodies without blocking the event loop: small ones inline, large ones on a worker thread. */
export function createDecoder(options = DECODER_LIMITS) {
  let pool: Piscina<BatchInput, Decoded> | undefined;
  let closes = 0;
  const turns = createSessionPool([THREAD], TURNS, BODIES);

  async function decodeOnThread(key: string, input: BatchInput): Promise<Batch> {
    const before = closes;
    const turn = await turns.acquire(ALWAYS, { lane: key });
    const run = async () => {
      const { Piscina } = await import('piscina'); // loaded only if it is used
      if (closes !== before) throw new Error('the decoder was closed');
      pool ??= createPool(Piscina, options.threadMemoryMbMax);
      return await pool.run(input, { transferList: transferable(input.bytes) });
    };
    return restore(
      await run()
        .catch(rejectLost)
        .finally(() => turns.release(turn)),
    );
  }

  return {
    /** Keys take turns. `input`'s bytes must not be used afterwards. @throws TailraceError as `decodeBatch`, `rejectLost` */
    async decode(key: string, input: BatchInput): Promise<Batch> {
      const { bytes, format, source, candidates } = input;
      const isShort = bytes.length <= options.inlineBytesMax;
      const isSmall = isShort && countMarks(bytes, format) <= options.inlineMarksMax;
      if (isSmall && !(source === undefined ? candidates : [source]).some(isSlowFilter)) {
        const batch = decodeInline(input, options.inlineBytesMax * INLINE_GROWTH_MAX);
        if (batch !== undefined) return batch;
      }
      return await decodeOnThread(key, input);
    },
    /** Large bodies that are being decoded, or wait for it. */
    get pending(): number {
      return turns.running + turns.queued;
    },
    /** Ends the thread; bodies that are being decoded are rejected. */
    async close(): Promise<void> {
      closes++;
      turns.drain(new TailraceError('engine_unavailable', 'the service is shutting down'));
      await pool?.destroy();
    },
  };
}

/** Returns `undefined` for a body that is too large for it: the thread finds out whether it is too large at all. */
function decodeInline(input: BatchInput, charsMax: number): Batch | undefined {
  try {
    return decodeBatch({ ...input, charsMax });
  } catch (error) {
    if (error instanceof TailraceError && error.code === 'body_too_large') return undefined;
    throw error;
  }
}

/** Creates a pool of one thread: its heap bounds the memory of decoding. It starts with the first large body. */
function createPool(Pool: typeof Piscina, memoryMbMax: number): Piscina<BatchInput, Decoded> {
  const pool = new Pool<BatchInput, Decoded>({
    filename: WORKER,
    minThreads: 1,
    maxThreads: 1,
    atomics: 'disabled', // an idle thread would sleep in Atomics.wait and never release freed memory
    recordTiming: false,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX, maxOldGenerationSizeMb: memoryMbMax },
  });
  pool.on('error', () => {}); // a thread that failed while idle is replaced
  return pool;
}

/** @throws TailraceError that says whether to send the body again: one that filled the memory would fill it again */
function rejectLost(cause: unknown): never {
  const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const message = isTooLarge
    ? 'the body needs too much memory to decode; send fewer events at once'
    : 'the events could not be decoded; send them again';
  throw new TailraceError(isTooLarge ? 'body_too_large' : 'engine_unavailable', message, { cause });
}

/** @throws what the thread has returned as a failure */
function restore(decoded: Decoded): Batch {
  if ('batch' in decoded) return decoded.batch;
  const { code, message, ...more } = decoded.failure;
  throw code === undefined ? new Error(message, more) : new TailraceError(code, message, more);
}
