import { TailraceError } from '../../errors.ts';
import { createServiceRate } from './service-rate.ts';

/** Rejects requests with events that would wait too long, before they cost anything. */
export interface Backpressure {
  /**
   * To be called before a body is read.
   *
   * @param key id of the caller's key
   * @param bytes of the body, as far as they are known
   * @throws TailraceError `overloaded` if the request would wait for more than `waitMsMax`
   */
  check(key: string, bytes: number): void;
  /**
   * Runs `work`, which stores a body that was read; meanwhile its bytes count as waiting.
   *
   * @throws TailraceError as `check`, before `work` is called, but only beyond `READ_TIMES` times the wait; what `work` throws
   */
  run<T>(key: string, bytes: number, work: () => Promise<T>): Promise<T>;
  /** Runs an insert; one that takes far too long says that the engine stands still. */
  watch<T>(insert: () => Promise<T>): Promise<T>;
  /** How long the last of all the requests will wait, ms. */
  readonly waitMs: number;
}

/** Why a request with events was rejected for now. */
export const OVERLOADS = ['wait', 'engine', 'backlog', 'share'] as const;

export type Overload = (typeof OVERLOADS)[number];

export interface BackpressureOptions {
  readonly waitMsMax: number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly onOverload: (reason: Overload) => void;
}

// So much is accepted at any rate: fixed costs of an insert, not bytes, are what its time goes into. From here on the rate is measured.
const FREE_BYTES = 1024 * 1024;
// The queues serve keys in turn, a body each; a key's first body waits for one of each other key, however many these have.
const TURN_BYTES = 64 * 1024;
// A body that was read has cost most of what a rejection saves, and its sender has waited; those that arrive together are few.
const READ_TIMES = 2;
const RETRY_SECONDS_MAX = 30;

/**
 * Estimates how long a request would wait: the bytes that are served before it, divided by the rate at which bytes were stored while
 * there was enough to do. Keys take turns, so a key waits for no more bytes of another than it has itself.
 */
export function createBackpressure({ waitMsMax, now, onOverload }: BackpressureOptions): Backpressure {
  const rate = createServiceRate(now);
  const waiting = new Map<string, number>();
  let all = 0;
  let insertAtMs: number | undefined;

  function change(key: string, bytes: number): void {
    all += bytes;
    const ofKey = (waiting.get(key) ?? 0) + bytes;
    if (ofKey === 0) waiting.delete(key);
    else waiting.set(key, ofKey);
    rate.setBusy(all >= FREE_BYTES);
  }

  function bytesBefore(key: string, bytes: number): number {
    const ofKey = waiting.get(key) ?? 0;
    const turn = ofKey + Math.max(bytes, TURN_BYTES);
    let before = ofKey;
    for (const [other, theirs] of waiting) if (other !== key) before += Math.min(theirs, turn);
    return before;
  }

  const estimate = (bytes: number) => (bytes < FREE_BYTES ? 0 : bytes / rate.bytesPerMs);

  function check(key: string, bytes: number, msMax = waitMsMax): void {
    const waitMs = estimate(bytesBefore(key, bytes));
    if (waitMs > msMax) throw reject('wait', waitMs);
    // An insert may take as long as all that waits; what it takes beyond is a pause of the engine, which lasts about as long again.
    const pauseMs = insertAtMs === undefined ? 0 : now() - insertAtMs - estimate(all);
    if (pauseMs > msMax) throw reject('engine', pauseMs);
  }

  function reject(reason: Overload, waitMs: number): TailraceError {
    onOverload(reason);
    const seconds = Math.ceil((waitMs - waitMsMax) / 1000);
    const about = reason === 'wait' ? `they would wait about ${Math.round(waitMs)} ms` : 'the engine pauses';
    return new TailraceError('overloaded', `the events are rejected for now: ${about}; send them again`, {
      retryAfterSeconds: Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX),
      // Otherwise the connection would be closed under a sender that still sends its body, and the response be lost.
      headers: { connection: 'keep-alive' },
    });
  }

  return {
    check: (key, bytes) => check(key, bytes),
    async run(key, bytes, work) {
      check(key, bytes, READ_TIMES * waitMsMax);
      change(key, bytes);
      try {
        const result = await work();
        rate.stored(bytes);
        return result;
      } finally {
        change(key, -bytes);
      }
    },
    async watch(insert) {
      insertAtMs = now();
      try {
        return await insert();
      } finally {
        insertAtMs = undefined;
      }
    },
    get waitMs() {
      return estimate(all);
    },
  };
}
