import { TailraceError } from '../errors.ts';
import type { QueueOptions } from './engine.ts';
import { createLanes, keyOfLane, type Lanes } from './lanes.ts';

interface Waiter<Session> {
  readonly take: (session: Session) => void;
  readonly fail: (error: unknown) => void;
}

export interface PoolLimits {
  /** Queries that may wait; one more is refused, since its answer would come too late. */
  readonly queueMax: number;
  /** The same for each key with all its tokens, so that no key fills the queue. */
  readonly queuePerLaneMax: number;
  /** The same for each token of a key. Default: as for a key. */
  readonly queuePerTokenMax?: number;
  /** Longest wait; then the query is refused. */
  readonly queueTimeoutMs: number;
}

/**
 * Sessions that run one query at a time each, given to waiting lanes by a fair queue. A session is what a query holds while it
 * runs: a session of chDB, or a slot for one more query on a server.
 */
export interface SessionPool<Session> {
  /** @throws TailraceError `overloaded` when too many wait or the wait is too long; the signal's reason when it aborts first */
  acquire(signal: AbortSignal, whose?: QueueOptions): Promise<Session>;
  release(session: Session): void;
  /**
   * Changes every session, each as soon as it is free and before its next query. Bypasses the queue and its bounds. Resolves when
   * all are changed.
   *
   * @throws the error of `change`; the other sessions are changed all the same
   */
  renew(change: (session: Session) => Promise<void>): Promise<void>;
  /** Rejects every waiting query. */
  drain(error: TailraceError): void;
  readonly queued: number;
  readonly running: number;
}

// Lane of internal work, such as checks of definitions. No key has an empty id.
const OWN_LANE = '';

export function createSessionPool<Session>(
  sessions: readonly Session[],
  limits: PoolLimits,
): SessionPool<Session> {
  const idle = [...sessions];
  const waiting = createLanes<TimedWaiter<Session>>();
  const changes = new Map<Session, (() => Promise<void>)[]>();
  const { mayHold, ...holders } = createHolders<Session>(sessions.length);

  /** Gives idle sessions to the next lanes. */
  function serve(): void {
    while (idle.length > 0) {
      const next = waiting.shift(mayHold);
      const session = next === undefined ? undefined : idle.pop();
      if (next === undefined || session === undefined) return;
      holders.add(session, next.lane);
      next.waiter.take(session);
    }
  }

  function release(session: Session): void {
    holders.delete(session);
    const change = changes.get(session)?.shift();
    if (change !== undefined) {
      void change().then(() => release(session));
      return;
    }
    idle.push(session);
    serve();
  }

  /** Queues for a session. */
  function wait(signal: AbortSignal, { lane = OWN_LANE, onJoin }: QueueOptions): Promise<Session> {
    return new Promise((take, fail) => {
      const waiter = createWaiter({ take, fail: leave }, signal, limits.queueTimeoutMs);
      function leave(error: unknown) {
        waiting.delete(waiter);
        fail(error);
      }
      waiting.push(lane, waiter);
      // A caller that joins the flight adds its own lane, and its own time, to the query.
      onJoin?.((other) => {
        if (!waiting.has(waiter) || findFull(waiting, other, limits) !== undefined) return;
        waiting.push(other, waiter);
        waiter.restart();
        serve();
      });
      serve();
    });
  }

  return {
    get queued() {
      return waiting.size;
    },
    get running() {
      return sessions.length - idle.length;
    },
    acquire(signal, { lane = OWN_LANE, onJoin } = {}) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (idle.length > 0 && mayHold(lane)) return wait(signal, { lane, onJoin }); // no waiting lane may take what is idle
      if (waiting.size >= limits.queueMax) return Promise.reject(full(`${limits.queueMax} queries`));
      const queries = findFull(waiting, lane, limits);
      return queries === undefined ? wait(signal, { lane, onJoin }) : Promise.reject(full(queries));
    },
    release,
    async renew(change) {
      const results = sessions.map((session) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const ofSession = changes.get(session) ?? [];
        ofSession.push(() => change(session).then(resolve, reject));
        changes.set(session, ofSession);
        const at = idle.indexOf(session);
        if (at !== -1) {
          idle.splice(at, 1);
          release(session);
        }
        return promise;
      });
      await Promise.allSettled(results);
      await Promise.all(results);
    },
    drain(error) {
      for (const waiter of [...waiting.waiters()]) waiter.fail(error);
    },
  };
}

/** The bound that a lane has reached; `undefined`: there is room for one more. */
function findFull<T>(waiting: Lanes<T>, lane: string, limits: PoolLimits): string | undefined {
  const { queuePerLaneMax, queuePerTokenMax = queuePerLaneMax } = limits;
  const key = keyOfLane(lane);
  if (waiting.lengthOfKey(key) >= queuePerLaneMax) return `${queuePerLaneMax} queries of this key`;
  if (lane === key || waiting.length(lane) < queuePerTokenMax) return undefined;
  return `${queuePerTokenMax} queries of this token`;
}

/** Which lane holds which session. */
function createHolders<Session>(sessions: number) {
  const lanes = new Map<Session, string>();
  return {
    /**
     * No key may hold the last session: a running query cannot be suspended, so another key's query would wait up to half a
     * minute for its end. Nor may a token hold the last session that its key may hold, if there are several. A session counts
     * as held until its query has really ended.
     */
    mayHold(lane: string): boolean {
      if (lane === OWN_LANE || sessions === 1) return true;
      const key = keyOfLane(lane);
      const holders = [...lanes.values()];
      if (holders.filter((holder) => keyOfLane(holder) === key).length >= sessions - 1) return false;
      return lane === key || holders.filter((holder) => holder === lane).length < Math.max(sessions - 2, 1);
    },
    add: (session: Session, lane: string) => lanes.set(session, lane),
    delete: (session: Session) => lanes.delete(session),
  };
}

interface TimedWaiter<Session> extends Waiter<Session> {
  /** Restarts its timeout. */
  restart(): void;
}

/** A waiter that leaves when `signal` aborts or its time is over. */
function createWaiter<Session>(
  { take, fail }: Waiter<Session>,
  signal: AbortSignal,
  timeoutMs: number,
): TimedWaiter<Session> {
  const leave = () => waiter.fail(signal.reason);
  const late = setTimeout(() => waiter.fail(tooLong(timeoutMs)), timeoutMs);
  signal.addEventListener('abort', leave, { once: true });
  const end = () => {
    clearTimeout(late);
    signal.removeEventListener('abort', leave);
  };
  const waiter: TimedWaiter<Session> = {
    take(session) {
      end();
      take(session);
    },
    fail(error) {
      end();
      fail(error);
    },
    restart: () => void late.refresh(),
  };
  return waiter;
}

function full(what: string): TailraceError {
  return new TailraceError('overloaded', `${what} are waiting already`);
}

function tooLong(queueTimeoutMs: number): TailraceError {
  const message = `the query waited ${queueTimeoutMs} ms for its turn; ask again later`;
  return new TailraceError('overloaded', message, { retryAfterSeconds: Math.ceil(queueTimeoutMs / 1000) });
}
