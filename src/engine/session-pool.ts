import type { Session } from 'chdb';
import { TailraceError } from '../errors.ts';

interface Waiter {
  readonly take: (session: Session) => void;
  readonly fail: (error: unknown) => void;
}

/** Sessions that run one query at a time each, handed out first come, first served. */
export interface SessionPool {
  /** @throws TailraceError `overloaded` at once when the queue is full; the signal's reason when it aborts first */
  acquire(signal: AbortSignal): Promise<Session>;
  release(session: Session): void;
  /**
   * Puts sessions from `open` in the place of all, which it closes when they are free. It takes its turn like any caller, but
   * is never turned away: sessions that it had got already would be lost.
   */
  reopen(open: () => Promise<Session>): Promise<void>;
  /** Closes every session; to be called when none runs any more. */
  close(): void;
  /** Fails everyone who waits. */
  drain(error: TailraceError): void;
  readonly queued: number;
  readonly running: number;
}

/** @param queueMax callers that may wait; one more is turned away, since its answer would come too late to be of use */
export function createSessionPool(sessions: readonly Session[], queueMax: number): SessionPool {
  let all = [...sessions];
  const idle = [...sessions];
  // A Set keeps the order of arrival and gives up a waiter that left without a search.
  const waiters = new Set<Waiter>();

  /** A session when it is this caller's turn. */
  function wait(signal: AbortSignal): Promise<Session> {
    const session = idle.pop();
    if (session !== undefined) return Promise.resolve(session);
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiters.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        take(one) {
          signal.removeEventListener('abort', leave);
          resolve(one);
        },
        fail(error) {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      waiters.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    get queued() {
      return waiters.size;
    },
    get running() {
      return all.length - idle.length;
    },
    acquire(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (idle.length > 0 || waiters.size < queueMax) return wait(signal);
      return Promise.reject(new TailraceError('overloaded', `${queueMax} queries are waiting already`));
    },
    release(session) {
      const [next] = waiters;
      if (next === undefined) {
        idle.push(session);
        return;
      }
      waiters.delete(next);
      next.take(session);
    },
    async reopen(open) {
      const fresh = await Promise.all(all.map(open));
      try {
        const never = new AbortController().signal;
        const free = await Promise.all(all.map(() => wait(never)));
        for (const session of free) session.close();
        all = fresh;
      } catch (error) {
        for (const session of fresh) session.close();
        throw error;
      }
      for (const session of fresh) this.release(session);
    },
    close() {
      for (const session of all) session.close();
    },
    drain(error) {
      for (const waiter of waiters) waiter.fail(error);
      waiters.clear();
    },
  };
}
