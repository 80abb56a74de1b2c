import { TailraceError } from '../errors.ts';
import { createDeadline } from '../lib/abort.ts';
import { toTailraceError } from './failure.ts';

/** Wraps all work of an engine: a deadline, errors as TailraceError, and refusal after `close`. */
export interface Gate {
  /** @throws TailraceError `engine_unavailable` once the engine closes, also if the work then fails otherwise */
  pass<T>(work: () => Promise<T>): Promise<T>;
  /**
   * The same for one caller's query.
   *
   * @throws the reason of `signal` when it was aborted; TailraceError `query_timeout` when the time is over
   */
  answer<T>(signal: AbortSignal | undefined, work: (deadline: AbortSignal) => Promise<T>): Promise<T>;
  /** @throws TailraceError `engine_unavailable` once the engine closes */
  refuseClosed(): void;
  /** The error of callers that wait when the engine closes. */
  closed(cause?: unknown): TailraceError;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * @param timeoutMs longest a query may take, its wait included
 * @param stop ends what still runs, then releases the store
 */
export function createGate(timeoutMs: number, stop: () => Promise<void>): Gate {
  let closing: Promise<void> | undefined;
  const late = () =>
    new TailraceError('query_timeout', `the query took longer than ${timeoutMs} ms and was stopped`);
  const closed = (cause?: unknown) =>
    new TailraceError('engine_unavailable', 'the service is shutting down', { cause });

  function refuseClosed(): void {
    if (closing !== undefined) throw closed();
  }

  async function pass<T>(work: () => Promise<T>): Promise<T> {
    refuseClosed();
    return await work().catch((error) => {
      // Closing kills running queries, which would otherwise look like timeouts.
      const failure = toTailraceError(error);
      throw closing === undefined ? failure : closed(failure);
    });
  }

  return {
    pass,
    refuseClosed,
    closed,
    async answer(signal, work) {
      const deadline = createDeadline(timeoutMs, late, signal);
      return await pass(() => work(deadline.signal))
        .catch((error) => {
          signal?.throwIfAborted();
          throw error;
        })
        .finally(deadline.clear);
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
}
