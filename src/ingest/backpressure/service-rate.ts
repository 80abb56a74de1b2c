/** How many bytes of request bodies the service stores in a millisecond, measured only while it has enough to do. */
export interface ServiceRate {
  /** Says whether there is enough to do from now on. */
  setBusy(isBusy: boolean): void;
  /** Counts the bytes of a request that is stored, and the time since the last one. */
  stored(bytes: number): void;
  /** Bytes in a millisecond; infinite as long as it is unknown: nothing may be rejected by a guess. */
  readonly bytesPerMs: number;
}

// Long enough for some inserts of the largest group, short enough to follow the machine.
const AVERAGE_MS = 3_000;
// What was measured long ago gets old.
const FORGET_MS = 60_000;
// The first inserts of a process take longer than all that follow.
const KNOWN_MS = 1_000;

/**
 * Exponentially weighted bytes and busy time; their ratio is the rate. Time counts when a request is stored, and `AVERAGE_MS` of it at
 * most: an engine that stands still for a minute must not make everything that follows look slow.
 *
 * @param now monotonic, ms
 */
export function createServiceRate(now: () => number): ServiceRate {
  let bytes = 0;
  let busyMs = 0;
  let isBusy = false;
  let countedMs = now();

  function weigh(factor: number): void {
    bytes *= factor;
    busyMs *= factor;
  }

  return {
    setBusy(next) {
      if (next && !isBusy) {
        weigh(Math.exp((countedMs - now()) / FORGET_MS));
        countedMs = now();
      }
      isBusy = next;
    },
    stored(more) {
      if (!isBusy) return;
      const passed = Math.min(now() - countedMs, AVERAGE_MS) / AVERAGE_MS;
      const kept = Math.exp(-passed);
      weigh(kept);
      busyMs += AVERAGE_MS * (1 - kept);
      // The bytes were stored all along, so their older part has the lower weight that the older time has.
      bytes += passed > 0 ? (more * (1 - kept)) / passed : more;
      countedMs = now();
    },
    get bytesPerMs() {
      return busyMs < KNOWN_MS ? Number.POSITIVE_INFINITY : bytes / busyMs;
    },
  };
}
