import type { Engine } from '../engine/engine.ts';
import { type BodyReader, createBodyReader } from './body-reader.ts';
import { type Committer, createCommitter } from './committer.ts';
import { type Idempotency, openIdempotency } from './idempotency.ts';
import { createReceiver, type Receive } from './receive.ts';

/** The write side of a service: everything between a request's body and the store. */
export interface Ingest {
  readonly bodies: BodyReader;
  readonly receive: Receive;
  readonly committer: Committer;
  readonly idempotency: Idempotency;
  /** Commits what is queued. */
  close(): Promise<void>;
}

export interface IngestOptions {
  readonly engine: Engine;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly limits: IngestLimits;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
  readonly onRefused: (source: string, count: number) => void;
}

export interface IngestLimits {
  readonly dataDir: string;
  readonly eventBytesMax: number;
  readonly ingestWaitMs: number;
  readonly ingestQueueBytesMax: number;
  readonly idempotencyWindowMs: number;
}

// Larger groups would make the first of their requests wait without making the engine faster.
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
// A body of this size is read in a millisecond or two.
const INLINE_BYTES_MAX = 64 * 1024;
// A body of the largest size takes less, unless it was made to take more.
const THREAD_MEMORY_MB_MAX = 1_024;
const ANSWERS_MAX = 100_000;

export function openIngest({ engine, now, limits, onCommit, onRefused }: IngestOptions): Ingest {
  const { dataDir, eventBytesMax, idempotencyWindowMs: windowMs } = limits;
  const { ingestQueueBytesMax: queueBytesMax } = limits;
  const bodies = createBodyReader({
    inlineBytesMax: INLINE_BYTES_MAX,
    queueBytesMax,
    threadMemoryMbMax: THREAD_MEMORY_MB_MAX,
  });
  const committer = createCommitter(engine, {
    waitMs: limits.ingestWaitMs,
    groupBytesMax: GROUP_BYTES_MAX,
    queueBytesMax,
    onCommit,
  });
  const idempotency = openIdempotency({ dataDir, now, windowMs, answersMax: ANSWERS_MAX });
  return {
    bodies,
    receive: createReceiver({ committer, now, eventBytesMax, onRefused }),
    committer,
    idempotency,
    async close() {
      await bodies.close();
      await committer.close();
      idempotency.close();
    },
  };
}
