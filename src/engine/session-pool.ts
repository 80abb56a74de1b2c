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
  /** Fails everyone who waits. */
  drain(error: TailraceError): void;
  readonly queued: number;
  readonly running: number;
}

/** @param queueMax callers that may wait; one more is turned away, since its answer would come too late to be of use */
export function createSessionPool(sessions: readonly Session[], queueMax: number): SessionPool {
  const idle = [...sessions];
  // A Set keeps the order of arrival and gives up a waiter that left without a search.
  const waiters = new Set<Waiter>();
  return {
    get queued() {
      return waiters.size;
    },
    get running() {
      return sessions.length - idle.length;
    },
    acquire(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const session = idle.pop();
      if (session !== undefined) return Promise.resolve(session);
      if (waiters.size >= queueMax) {
        return Promise.reject(new TailraceError('overloaded', `${queueMax} queries are waiting already`));
      }
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
    drain(error) {
      for (const waiter of waiters) waiter.fail(error);
      waiters.clear();
    },
  };
}
