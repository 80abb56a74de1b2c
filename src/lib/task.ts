import { setTimeout as delay } from 'node:timers/promises';

/** Work that the service repeats. */
export interface Task {
  /** In logs and as a label of metrics: lower case, with dashes. */
  readonly name: string;
  /** From the start of one run to the start of the next. A longer run delays it; missed runs are not made up for. */
  readonly everyMs: number;
  /** A rejection is reported, and the next run starts as usual. */
  readonly run: () => unknown;
  /** Whether it runs once more when it is stopped. */
  readonly runsAtEnd?: boolean;
}

export type RunningTask = ReturnType<typeof startTask>;

// A run that waits for a server which does not respond must not keep the service from ending.
const STOP_MS_MAX = 5_000;

/**
 * Runs a task every `everyMs`, one run at a time, until it is stopped. The first run starts after `everyMs`.
 * @param onFailure gets the rejection of a run; without it, `run` has to report its own failures
 */
export function startTask({ everyMs, run, runsAtEnd = false }: Task, onFailure?: (error: unknown) => void) {
  let running: Promise<void> | undefined;

  async function runOnce(): Promise<void> {
    try {
      await run();
    } catch (error) {
      onFailure?.(error);
    }
  }

  function trigger(): Promise<void> {
    running ??= runOnce().finally(() => {
      running = undefined;
    });
    return running;
  }

  const timer = setInterval(() => void trigger(), everyMs).unref();
  return {
    /** Runs now, or joins the run that has started already. Never rejects. */
    trigger,
    /** Starts no further run; resolves when the last one has ended, or after five seconds. */
    async stop(): Promise<void> {
      clearInterval(timer);
      if (running !== undefined) await Promise.race([running, delay(STOP_MS_MAX, undefined, { ref: false })]);
      if (runsAtEnd) await trigger();
    },
  };
}

interface BackOff {
  /** The delay after the first failure. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** 0 to 1: takes up to a half off, so that many callers do not try again at the same moment. */
  readonly random?: () => number;
}

/** Returns how long to wait after so many failures in a row, in ms: none after none, then twice as long each time. */
export function backOffMs(failures: number, { firstMs, longestMs, random = () => 0 }: BackOff): number {
  if (failures === 0) return 0;
  const fullMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.round(fullMs * (1 - random() / 2));
}

/**
 * Calls the given function at most once in `everyMs`, by default a minute, and drops every other call.
 *
 * @param now ms since the epoch; a clock that is set back does not block the next call
 */
export function createThrottle(now: () => number, everyMs = 60_000): (work: () => void) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (work) => {
    if (Math.abs(now() - lastMs) < everyMs) return;
    lastMs = now();
    work();
  };
}
