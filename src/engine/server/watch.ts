import { TailraceError } from '../../errors.ts';

/** Whether a server can be reached, so that callers fail fast while it cannot. */
export interface ServerWatch {
  readonly isUp: boolean;
  /** Aborts when the server becomes unavailable, with the error for callers; aborted already while it is unavailable. */
  readonly signal: AbortSignal;
  stop(): void;
}

export interface WatchOptions {
  /** Asks for a sign of life. @throws when there is none, or the signal aborts */
  readonly ping: (signal: AbortSignal) => Promise<void>;
  /** Pause between two looks, ms. */
  readonly pauseMs: number;
  /** Told each change, and why. */
  readonly onReach: (isUp: boolean, error?: unknown) => void;
}

/** With the longest ping, a server that comes back is in use again within two seconds. */
export const PING_PAUSE_MS = 500;
const PING_MS_MAX = 1_000;
// One lost connection is no outage, and queries that run are stopped by one.
const FAILURES_MAX = 3;

/**
 * Pings a server for as long as it is in use. A server that refuses connections fails each query by itself; one behind a
 * network that swallows everything would hold each for as long as a query may take, and then all who wait behind it.
 */
export function watchServer({ ping, pauseMs, onReach }: WatchOptions): ServerWatch {
  let away: AbortController | undefined;
  let reach = new AbortController();
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  const stopped = new AbortController();

  function note(error?: unknown): void {
    failures = error === undefined ? 0 : failures + 1;
    if (error === undefined && away !== undefined) {
      away = undefined;
      reach = new AbortController();
      onReach(true);
    } else if (failures >= FAILURES_MAX && away === undefined) {
      away = reach;
      reach.abort(new TailraceError('engine_unavailable', 'the engine is not available', { cause: error }));
      onReach(false, error);
    }
  }

  async function look(): Promise<void> {
    try {
      await ping(AbortSignal.any([stopped.signal, AbortSignal.timeout(PING_MS_MAX)]));
      note();
    } catch (error) {
      if (stopped.signal.aborted) return;
      note(error);
    }
    plan();
  }

  function plan(): void {
    timer = setTimeout(() => void look(), pauseMs).unref();
  }

  plan();
  return {
    get isUp() {
      return away === undefined;
    },
    get signal() {
      return reach.signal;
    },
    stop() {
      clearTimeout(timer);
      stopped.abort();
    },
  };
}
