import type { Config } from '../config/config.ts';
import type { Engine, InsertBatch } from '../engine/engine.ts';
import { type Backpressure, createBackpressure, type Overload } from './backpressure.ts';
import { type Committer, createCommitter } from './committer.ts';
import { createDecoder } from './decoder.ts';
import type { FilterCounts } from './filter/filter.ts';
import { createReceiver, type Receive, type ReceiverOptions } from './receive.ts';
import type { Usage } from './usage/usage.ts';

/** The write side of a service: everything between a request body and the engine. */
export interface Ingest {
  readonly receive: Receive;
  readonly committer: Committer;
  readonly backpressure: Backpressure;
  /** Commits what is queued. */
  close(): Promise<void>;
}

export interface IngestOptions {
  readonly engine: Engine;
  /** ms since the epoch. */
  readonly now: () => number;
  /** See `ReceiverOptions`. */
  readonly ageAt: () => number;
  readonly usage: Usage;
  readonly config: Pick<Config, 'ingestWaitMsMax'>;
  /** Called before each insert; see `StoringWatch`. */
  readonly requireRoom: () => void;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
  readonly onOverload: (reason: Overload) => void;
  readonly onRejectedCount: (source: string, count: number) => void;
  /** See `ReceiverOptions`. */
  readonly onRejected: ReceiverOptions['onRejected'];
  readonly onWithoutProject: (source: string, count: number) => void;
  readonly onRepaired: (source: string, count: number) => void;
  /** See `ReceiverOptions`. */
  readonly onFiltered: (source: string, counts: FilterCounts) => void;
}

/**
 * Bytes of the events that wait to be decoded, and as many to be stored; beyond them, or the share of a key, 503: some
 * seconds of the engine's work, and memory that a small machine has.
 */
const QUEUE_BYTES_MAX = 128 * 1024 * 1024;
// Longest estimated wait of a request; then it is rejected before its body is read. Senders give up after some seconds.
const WAIT_MS_MAX = 2_000;
// How long events wait to be stored with others, which a sender does not notice; beside large bodies up to 20 times that.
const GROUP_WAIT_MS = 5;
// A larger group would make its first request wait without making the engine faster.
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
// A body within both bounds is decoded in a few milliseconds, even one built to be slow.
export const INLINE_BYTES_MAX = 64 * 1024;
export const INLINE_MARKS_MAX = 1_000;
// A body of the largest size needs less, unless it was built to need more.
const THREAD_MEMORY_MB_MAX = 1_024;
// Below, the fixed cost of an insert of blocks is more than what it saves; bench/NOTES.md has both.
const BLOCK_ROWS_MIN = 500;

export function createIngest(options: IngestOptions): Ingest {
  const { engine, config, onOverload } = options;
  const blockRowsMin = engine.takesBlocks ? BLOCK_ROWS_MIN : undefined;
  const backpressure = createBackpressure({
    waitMsMax: config.ingestWaitMsMax ?? WAIT_MS_MAX,
    now: () => performance.now(), // a wall clock may jump
    onOverload,
  });
  const insert = async (batch: InsertBatch) => {
    options.requireRoom();
    await backpressure.watch(() => engine.insert(batch));
  };
  const decoder = createDecoder({
    inlineBytesMax: INLINE_BYTES_MAX,
    inlineMarksMax: INLINE_MARKS_MAX,
    queueBytesMax: QUEUE_BYTES_MAX,
    onOverload,
    threadMemoryMbMax: THREAD_MEMORY_MB_MAX,
  });
  const committer = createCommitter(
    { insert },
    {
      waitMs: GROUP_WAIT_MS,
      expectsMore: () => decoder.pending > 0,
      groupBytesMax: GROUP_BYTES_MAX,
      queueBytesMax: QUEUE_BYTES_MAX,
      onOverload,
      onCommit: options.onCommit,
    },
  );
  const parts = { decoder, committer, backpressure };
  return {
    receive: createReceiver({ ...options, ...parts, blockRowsMin }),
    committer,
    backpressure: {
      ...backpressure,
      // Before its body is read, too.
      check(key, bytes) {
        options.usage.checkKey(key);
        backpressure.check(key, bytes);
      },
      get waitMs() {
        return backpressure.waitMs;
      },
    },
    async close() {
      await decoder.close();
      await committer.close();
    },
  };
}
