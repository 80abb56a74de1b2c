import { TailraceError } from '../../errors.ts';
import { startTask } from '../../lib/task.ts';

/** Watches whether a server can be reached, so that callers fail fast while it cannot. */
export interface ServerWatch {
  readonly isUp: boolean;
  /**
   * Aborts when the server becomes unavailable, with the error for callers; it is aborted while the server is
   * unavailable.
   */
  readonly signal: AbortSignal;
  stop(): void;
}

export interface WatchOptions {
  /** @throws if the server does not respond, or the signal aborts */
  readonly ping: (signal: AbortSignal) => Promise<void>;
  /** From one ping to the next, ms. */
  readonly pauseMs: number;
  /** Called on each change, with the reason. */
  readonly onReach: (isUp: boolean, error?: unknown) => void;
}

/** Even with the longest ping, a server that becomes available is used again within two seconds. */
export const PING_PAUSE_MS = 500;
const PING_MS_MAX = 1_000;
// One lost connection is not an outage: an outage stops running queries.
const FAILURES_MAX = 3;

/**
 * Pings a server until stopped. A server that rejects connections fails each query by itself; one behind a network that
 * drops packets would hold each query until its timeout, and then all that wait behind it.
 */
export function watchServer({ ping, pauseMs, onReach }: WatchOptions): ServerWatch {
  let reach = new AbortController();
  let failures = 0;
  const stopped = new AbortController();

  function onSuccess(): void {
    failures = 0;
    if (!reach.signal.aborted) return;
    reach = new AbortController();
    onReach(true);
  }

  function onFailure(error: unknown): void {
    if (stopped.signal.aborted || ++failures < FAILURES_MAX || reach.signal.aborted) return;
    reach.abort(new TailraceError('engine_unavailable', 'the engine is not available', { cause: error }));
    onReach(false, error);
  }

  async function probe(): Promise<void> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(PING_MS_MAX)]);
    await ping(signal).then(onSuccess, onFailure);
  }

  const pinging = startTask({ name: 'ping', everyMs: pauseMs, run: probe });
  return {
    get isUp() {
      return !reach.signal.aborted;
    },
    get signal() {
      return reach.signal;
    },
    stop() {
      stopped.abort();
      void pinging.stop();
    },
  };
}
