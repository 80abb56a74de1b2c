import type { Config } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { type Committer, createCommitter } from './committer.ts';
import { createDecoder } from './decoder.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { openSqliteAnswers } from './idempotency/sqlite-answers.ts';
import { createReceiver, type Receive } from './receive.ts';

/** The write side of a service: everything between a request body and the engine. */
export interface Ingest {
  readonly receive: Receive;
  readonly committer: Committer;
  /** Commits what is queued. */
  close(): Promise<void>;
}

export interface IngestOptions {
  readonly engine: Engine;
  /** ms since the epoch. */
  readonly now: () => number;
  /** See `ReceiverOptions`. */
  readonly ageAt: () => number;
  readonly config: Pick<
    Config,
    | 'dataDir'
    | 'controlUrl'
    | 'eventBytesMax'
    | 'ingestWaitMs'
    | 'ingestQueueBytesMax'
    | 'idempotencyWindowMs'
  >;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
  readonly onRefused: (source: string, count: number) => void;
  readonly onWithoutProject: (source: string, count: number) => void;
  readonly onRepaired: (source: string, count: number) => void;
  /** See `IdempotencyOptions.onFailure`. */
  readonly onUnremembered: (error: unknown) => void;
}

// A larger group would make its first request wait without making the engine faster.
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
// A body within both bounds is decoded in a few milliseconds, even one built to be slow.
export const INLINE_BYTES_MAX = 64 * 1024;
export const INLINE_MARKS_MAX = 1_000;
// A body of the largest size needs less, unless it was built to need more.
const THREAD_MEMORY_MB_MAX = 1_024;
// Below, the fixed cost of an insert of blocks is more than what it saves; bench/NOTES.md has both.
const BLOCK_ROWS_MIN = 500;
const ANSWERS_MAX = 100_000;

/** @throws InputError if the answers to Idempotency-Keys cannot be stored as the settings say */
export async function openIngest(options: IngestOptions): Promise<Ingest> {
  const { engine, now, config, onUnremembered: onFailure } = options;
  const { dataDir, controlUrl, eventBytesMax, idempotencyWindowMs: windowMs } = config;
  const blockRowsMin = engine.takesBlocks ? BLOCK_ROWS_MIN : undefined;
  const queueBytesMax = config.ingestQueueBytesMax;
  const store = controlUrl === '' ? openSqliteAnswers(dataDir) : await openPostgres(controlUrl);
  const idempotency = createIdempotency({ store, now, windowMs, answersMax: ANSWERS_MAX, onFailure });
  const decoder = createDecoder({
    inlineBytesMax: INLINE_BYTES_MAX,
    inlineMarksMax: INLINE_MARKS_MAX,
    queueBytesMax,
    threadMemoryMbMax: THREAD_MEMORY_MB_MAX,
  });
  const committer = createCommitter(engine, {
    waitMs: config.ingestWaitMs,
    expectsMore: () => decoder.pending > 0,
    groupBytesMax: GROUP_BYTES_MAX,
    queueBytesMax,
    onCommit: options.onCommit,
  });
  return {
    receive: createReceiver({ ...options, decoder, committer, idempotency, eventBytesMax, blockRowsMin }),
    committer,
    async close() {
      await decoder.close();
      await committer.close();
      await idempotency.close();
    },
  };
}

/** Loads the driver only if it is used. */
async function openPostgres(url: string) {
  const { openPostgresAnswers } = await import('./idempotency/postgres-answers.ts');
  return await openPostgresAnswers(url);
}
