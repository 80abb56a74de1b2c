import { diskIsFull, isDiskFull } from '../engine/failure.ts';
import { TailraceError } from '../errors.ts';

export type Backpressure = ReturnType<typeof createBackpressure>;

/** Why a request with events was rejected for now. */
export const OVERLOADS = ['wait', 'engine', 'backlog', 'share'] as const;
export type Overload = (typeof OVERLOADS)[number];

interface BackpressureOptions {
  readonly waitMsMax: number;
  /** Bytes of events that wait to be stored: each takes memory. A body that is accepted may exceed it. */
  readonly bytesMax: number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly onOverload: (reason: Overload) => void;
}

// Accepted at any rate: the time of a smaller insert is its fixed costs. From here on the rate is measured.
const FREE_BYTES = 1024 * 1024;
// Keys are served in turn, a body each: a key's first body waits for one of each other key.
const TURN_BYTES = 64 * 1024;
// A body that was read has cost most of what a rejection saves; those that arrive together are few.
const READ_TIMES = 2;
const RETRY_SECONDS_MAX = 30;
// A key may hold three times what is free: three quarters of the bytes by itself, and less beside others.
const TIMES_FREE = 3;

/**
 * Rejects requests that would wait too long, before they cost anything. The wait is the bytes that are served before a
 * request, divided by the rate at which bytes are stored while there is enough to do. Keys take turns, so a key waits for
 * no more bytes of another than it has itself.
 */
export function createBackpressure(options: BackpressureOptions) {
  const { waitMsMax, bytesMax, now, onOverload } = options;
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
    const about = `they would wait about ${Math.round(waitMs)} ms`;
    if (waitMs > msMax) throw reject('wait', about, waitMs);
    // An insert may take as long as all that waits; what it takes beyond is a pause of the engine, which lasts about as
    // long again.
    const pauseMs = insertAtMs === undefined ? 0 : now() - insertAtMs - estimate(all);
    if (pauseMs > msMax) throw reject('engine', 'the engine pauses', pauseMs);
    const ofKey = waiting.get(key) ?? 0;
    if (all >= bytesMax) throw reject('backlog', `${all} bytes wait already`);
    if (ofKey > 0 && ofKey >= TIMES_FREE * (bytesMax - all))
      throw reject('share', `${ofKey} bytes of this key wait already`);
  }

  function reject(reason: Overload, why: string, waitMs = 0): TailraceError {
    onOverload(reason);
    const seconds = Math.ceil((waitMs - waitMsMax) / 1000);
    return new TailraceError('overloaded', `the events are rejected for now: ${why}; send them again`, {
      retryAfterSeconds: Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX),
      // Otherwise the connection would be closed under a sender that still sends its body, and the response be lost.
      headers: { connection: 'keep-alive' },
    });
  }

  return {
    /** To be called before a body is read. @param bytes of the body, as far as known @throws TailraceError `overloaded` */
    check: (key: string, bytes: number) => check(key, bytes),
    /** Runs `work`, which stores a read body. @throws TailraceError `overloaded` beyond `READ_TIMES` times the wait */
    async run<T>(key: string, bytes: number, work: () => Promise<T>): Promise<T> {
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
    /** Runs an insert; one that takes far too long says that the engine stands still. */
    async watch<T>(insert: () => Promise<T>): Promise<T> {
      insertAtMs = now();
      try {
        return await insert();
      } finally {
        insertAtMs = undefined;
      }
    },
    /** How long the last of all the requests will wait, ms. */
    get waitMs(): number {
      return estimate(all);
    },
  };
}

// Long enough for some inserts of the largest group, short enough to follow the machine.
const AVERAGE_MS = 3_000;
// What was measured long ago gets old.
const FORGET_MS = 60_000;
// The first inserts of a process take longer than all that follow.
const KNOWN_MS = 1_000;

/**
 * Measures the bytes that are stored in a millisecond while there is enough to do: the ratio of exponentially weighted
 * bytes and busy time. Between two requests at most `AVERAGE_MS` count: an engine that stands still for a minute must not
 * make everything that follows look slow.
 */
function createServiceRate(now: () => number) {
  let bytes = 0;
  let busyMs = 0;
  let isBusy = false;
  let countedMs = now();

  function weigh(factor: number): void {
    bytes *= factor;
    busyMs *= factor;
  }

  return {
    setBusy(next: boolean): void {
      if (next && !isBusy) {
        weigh(Math.exp((countedMs - now()) / FORGET_MS));
        countedMs = now();
      }
      isBusy = next;
    },
    /** Counts the bytes of a request that is stored, and the time since the last one. */
    stored(more: number): void {
      if (!isBusy) return;
      const passed = Math.min(now() - countedMs, AVERAGE_MS) / AVERAGE_MS;
      const kept = Math.exp(-passed);
      weigh(kept);
      busyMs += AVERAGE_MS * (1 - kept);
      // The bytes were stored all along, so their older part has the lower weight that the older time has.
      bytes += passed > 0 ? (more * (1 - kept)) / passed : more;
      countedMs = now();
    },
    /** Infinite as long as it is unknown: nothing may be rejected by a guess. */
    get bytesPerMs(): number {
      return busyMs < KNOWN_MS ? Number.POSITIVE_INFINITY : bytes / busyMs;
    },
  };
}

export type StoringWatch = ReturnType<typeof createStoringWatch>;

interface StoringWatchOptions {
  /** Reads the free bytes on the disk of the data directory; `undefined` if unknown. */
  readonly readFreeBytes: () => Promise<number | undefined>;
  /** See `Reserve`. */
  readonly isSpent: () => boolean;
  /** ms since the epoch. */
  readonly now: () => number;
}

// Less than the smallest insert and the journal of the keys need.
const FREE_BYTES_MIN = 1024 * 1024;
// A server's disk, whose free bytes are unknown, counts as full this long after a failed insert, or until one succeeds.
const FULL_FOR_MS = 60_000;

/** Says whether events can be stored, for those who operate the service. A full disk stops events, not queries. */
export function createStoringWatch({ readFreeBytes, isSpent, now }: StoringWatchOptions) {
  let fullAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** @param error why rows were not stored; left out if they were */
    committed(error?: unknown): void {
      if (error === undefined) fullAtMs = Number.NEGATIVE_INFINITY;
      else if (isDiskFull(error)) fullAtMs = now();
    },
    /** @throws TailraceError if the rest of the disk is not for events */
    requireRoom(): void {
      if (isSpent()) throw diskIsFull();
    },
    /** Returns why nothing can be stored now; `undefined` if events can be stored. */
    async findProblem(): Promise<string | undefined> {
      const freeBytes = await readFreeBytes();
      const kept = isSpent() ? ', for deletions and changes of keys' : '';
      if (freeBytes !== undefined && (freeBytes < FREE_BYTES_MIN || kept !== ''))
        return (
          `the disk of the data directory is full (${freeBytes} bytes are free${kept}): events get 503; ` +
          'make room, such as by "tailrace delete"'
        );
      if (now() - fullAtMs < FULL_FOR_MS)
        return 'the disk of the events was full at the last insert: events get 503; make room';
      return undefined;
    },
  };
}
