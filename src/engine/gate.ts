import { TailraceError } from '../errors.ts';
import { createDeadline } from '../lib/abort.ts';
import type { QueryOptions } from './engine.ts';
import { toTailraceError } from './failure.ts';

/**
 * Wraps all work of an engine: a deadline, errors as TailraceError, and rejection after `close`.
 *
 * @param timeoutMs longest time of a query, including its wait
 * @param stop ends running work, then releases the store; called once
 */
export function createGate(timeoutMs: number, stop: () => Promise<void>) {
  let closing: Promise<void> | undefined;
  const late = () => queryTimeout(timeoutMs);
  const closed = (cause?: unknown) =>
    new TailraceError('engine_unavailable', 'the service is shutting down', { cause });

  function rejectClosed(): void {
    if (closing !== undefined) throw closed();
  }

  async function pass<T>(work: () => Promise<T>, isAuthors?: boolean): Promise<T> {
    rejectClosed();
    return await work().catch((error) => {
      // Closing kills running queries, which would otherwise look like timeouts.
      const failure = toTailraceError(error, isAuthors);
      throw closing === undefined ? failure : closed(failure);
    });
  }

  return {
    /** @throws TailraceError; `engine_unavailable` for every failure once the engine closes */
    pass,
    /** @throws TailraceError `engine_unavailable` once the engine closes */
    rejectClosed,
    /** The error of queries that wait or run when the engine closes. */
    closed,
    /**
     * Does as `pass` for one caller's query.
     *
     * @param isAuthors see `QueryOptions`
     * @throws the reason of `signal` when it was aborted; TailraceError `query_timeout` after `timeoutMs`
     */
    async answer<T>(
      { signal, isAuthors }: Pick<QueryOptions, 'signal' | 'isAuthors'>,
      work: (deadline: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const deadline = createDeadline(timeoutMs, late, signal);
      return await pass(() => work(deadline.signal), isAuthors)
        .catch((error) => {
          signal?.throwIfAborted();
          throw error;
        })
        .finally(deadline.clear);
    },
    /** Idempotent. */
    close(): Promise<void> {
      closing ??= stop();
      return closing;
    },
  };
}

/** Returns the error of a query that was stopped at its deadline. */
export function queryTimeout(timeoutMs: number): TailraceError {
  return new TailraceError('query_timeout', `the query took longer than ${timeoutMs} ms and was stopped`);
}
