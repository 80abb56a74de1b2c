import { diskIsFull, isDiskFull } from '../engine/failure.ts';

/** Whether events can be stored, for those who operate the service. A full disk stops events, not queries. */
export interface StoringWatch {
  /** @param error why rows were not stored; left out if they were */
  committed(error?: unknown): void;
  /** @throws TailraceError if the rest of the disk is not for events */
  requireRoom(): void;
  /** Returns why nothing can be stored now; `undefined` if events can be stored. */
  findProblem(): Promise<string | undefined>;
}

export interface StoringWatchOptions {
  /** Free bytes on the disk of the data directory; `undefined` if unknown. */
  readonly readFreeBytes: () => Promise<number | undefined>;
  /** See `Reserve`. */
  readonly isSpent: () => boolean;
  /** ms since the epoch. */
  readonly now: () => number;
}

// Less than the smallest insert and the journal of the keys need.
const FREE_BYTES_MIN = 1024 * 1024;
// The free bytes of a server's disk are unknown: it counts as full this long after an insert failed, unless a later one
// succeeds.
const FULL_FOR_MS = 60_000;

export function createStoringWatch({ readFreeBytes, isSpent, now }: StoringWatchOptions): StoringWatch {
  let fullAtMs = Number.NEGATIVE_INFINITY;
  return {
    committed(error) {
      if (error === undefined) fullAtMs = Number.NEGATIVE_INFINITY;
      else if (isDiskFull(error)) fullAtMs = now();
    },
    requireRoom() {
      if (isSpent()) throw diskIsFull();
    },
    async findProblem() {
      const freeBytes = await readFreeBytes();
      const isReserved = isSpent();
      if (freeBytes !== undefined && (freeBytes < FREE_BYTES_MIN || isReserved))
        return (
          `the disk of the data directory is full (${freeBytes} bytes are ` +
          `free${isReserved ? ', for deletions and changes of keys' : ''}): events get 503; make room, ` +
          'such as by "tailrace delete"'
        );
      if (now() - fullAtMs < FULL_FOR_MS)
        return 'the disk of the events was full at the last insert: events get 503; make room';
      return undefined;
    },
  };
}
