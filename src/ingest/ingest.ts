import type { Engine } from '../engine/engine.ts';
import { type BodyReader, createBodyReader } from './body-reader.ts';
import { type Committer, createCommitter } from './committer.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { createReceiver, type Receive } from './receive.ts';
import { openSqliteAnswers } from './sqlite-answers.ts';
import type { OnWithoutProject } from './without-project.ts';

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
  /** See `ReceiverOptions`. */
  readonly ageAt: () => number;
  readonly limits: IngestLimits;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
  readonly onRefused: (source: string, count: number) => void;
  readonly onWithoutProject: OnWithoutProject;
  /** See `IdempotencyOptions.onFailure`. */
  readonly onUnremembered: (error: unknown) => void;
}

export interface IngestLimits {
  readonly dataDir: string;
  /** See `ControlSettings`. */
  readonly controlUrl: string;
  readonly eventBytesMax: number;
  readonly ingestWaitMs: number;
  readonly ingestQueueBytesMax: number;
  readonly idempotencyWindowMs: number;
}

// Larger groups would make the first of their requests wait without making the engine faster.
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
// A body within both is read in a millisecond or two.
export const INLINE_BYTES_MAX = 64 * 1024;
export const INLINE_MARKS_MAX = 1_000;
// A body of the largest size takes less, unless it was made to take more.
const THREAD_MEMORY_MB_MAX = 1_024;
const ANSWERS_MAX = 100_000;

/** @throws InputError when the answers to Idempotency-Keys cannot be kept where the settings say */
export async function openIngest(options: IngestOptions): Promise<Ingest> {
  const { engine, now, ageAt, limits, onCommit, onRefused, onWithoutProject } = options;
  const { onUnremembered: onFailure } = options;
  const { dataDir, controlUrl, eventBytesMax, idempotencyWindowMs: windowMs } = limits;
  const { ingestQueueBytesMax: queueBytesMax } = limits;
  const store = controlUrl === '' ? openSqliteAnswers(dataDir) : await openPostgres(controlUrl);
  const bodies = createBodyReader({
    inlineBytesMax: INLINE_BYTES_MAX,
    inlineMarksMax: INLINE_MARKS_MAX,
    queueBytesMax,
    threadMemoryMbMax: THREAD_MEMORY_MB_MAX,
  });
  const committer = createCommitter(engine, {
    waitMs: limits.ingestWaitMs,
    groupBytesMax: GROUP_BYTES_MAX,
    queueBytesMax,
    onCommit,
  });
  const idempotency = createIdempotency({ store, now, windowMs, answersMax: ANSWERS_MAX, onFailure });
  return {
    bodies,
    receive: createReceiver({ committer, now, ageAt, eventBytesMax, onRefused, onWithoutProject }),
    committer,
    idempotency,
    async close() {
      await bodies.close();
      await committer.close();
      await idempotency.close();
    },
  };
}

/** Loads the driver only if it is used. */
async function openPostgres(url: string) {
  const { openPostgresAnswers } = await import('./postgres-answers.ts');
  return await openPostgresAnswers(url);
}
