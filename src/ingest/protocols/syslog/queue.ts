import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '../../../errors.ts';

/** Lines that wait to be stored together. */
export interface LineQueue {
  /** Adds lines. @returns whether there is room for more */
  add(lines: readonly Buffer[]): boolean;
  /** Resolves when there is room for more, or the queue is closed. */
  room(): Promise<void>;
  /** Stores what waits, as far as that is possible before the time is over. */
  close(): Promise<void>;
}

export interface LineQueueOptions {
  /** Stores frames of RFC 6587. @throws TailraceError if they have to be sent again */
  readonly store: (frames: Buffer) => Promise<void>;
  /** Called with lines that are not stored. */
  readonly onLost: (lines: number, error: unknown) => void;
}

const QUEUE_BYTES_MAX = 4 * 1024 * 1024;
const BATCH_BYTES_MAX = 1024 * 1024;
// Memory of a line beside its bytes.
const LINE_BYTES = 128;
const sizeOf = (line: Buffer) => line.length + LINE_BYTES;
// Lines that come one by one are stored together.
const COLLECT_MS = 50;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
const CLOSE_MS_MAX = 5_000;

/**
 * Collects the lines of all connections of a listener. They are stored in the order of their arrival, one batch after another; one that
 * cannot be stored for now is tried again until it is, or the queue is closed.
 */
export function createLineQueue({ store, onLost }: LineQueueOptions): LineQueue {
  const closing = new AbortController();
  let waiting: Buffer[] = [];
  let bytes = 0;
  let draining: Promise<void> | undefined;
  let onRoom: (() => void)[] = [];

  function takeBatch(): Buffer[] {
    let size = 0;
    const end = waiting.findIndex((line) => {
      size += sizeOf(line);
      return size > BATCH_BYTES_MAX;
    });
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  async function drain(): Promise<void> {
    await wait(COLLECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    while (waiting.length > 0) {
      const batch = takeBatch();
      await storeBatch(batch);
      bytes -= batch.reduce((sum, line) => sum + sizeOf(line), 0);
      for (const resume of onRoom.splice(0)) resume();
    }
  }

  async function storeBatch(batch: readonly Buffer[]): Promise<void> {
    const frames = Buffer.concat(batch.flatMap((line) => [Buffer.from(`${line.length} `), line]));
    for (;;) {
      try {
        return await store(Buffer.from(frames)); // its bytes may move to another thread
      } catch (error) {
        const retryMs = retryAfter(error);
        if (retryMs === undefined || closing.signal.aborted) return onLost(batch.length, error);
        await wait(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  return {
    add(lines) {
      for (const line of lines) {
        waiting.push(line);
        bytes += sizeOf(line);
      }
      if (waiting.length > 0) draining ??= drain().finally(() => (draining = undefined));
      return bytes < QUEUE_BYTES_MAX;
    },
    async room() {
      if (bytes >= QUEUE_BYTES_MAX && !closing.signal.aborted)
        await new Promise<void>((resolve) => onRoom.push(resolve));
    },
    async close() {
      const late = wait(CLOSE_MS_MAX, undefined, { ref: false });
      closing.abort();
      for (const resume of onRoom) resume();
      onRoom = [];
      await Promise.race([draining, late]);
      if (waiting.length > 0) onLost(waiting.length, new Error('the service is shutting down'));
      waiting = [];
    },
  };
}

/** Returns after how long to try again, in ms; `undefined` if that cannot help. */
function retryAfter(error: unknown): number | undefined {
  if (!(error instanceof TailraceError)) return undefined;
  const seconds = error.retryAfterSeconds;
  // A quota may be spent for hours, but be raised at any time.
  return seconds === undefined ? undefined : Math.min(Math.max(RETRY_MS, seconds * 1_000), RETRY_MS_MAX);
}
