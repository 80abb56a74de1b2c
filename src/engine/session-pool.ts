import { TailraceError } from '../errors.ts';
import type { Whose } from './engine.ts';
import { createLanes, keyOfLane, type Lanes } from './lanes.ts';

interface Waiter<Session> {
  readonly take: (session: Session) => void;
  readonly fail: (error: unknown) => void;
}

export interface PoolLimits {
  /** Callers that may wait; one more is turned away, since its answer would come too late to be of use. */
  readonly queueMax: number;
  /** The same for each key with all its tokens, so that one alone cannot take every place. */
  readonly queuePerLaneMax: number;
  /** The same for each token of a key; as many as for a key where it is left out. */
  readonly queuePerTokenMax?: number;
  /** Longest wait; then the caller is turned away. */
  readonly queueTimeoutMs: number;
}

/**
 * Sessions that run one query at a time each, handed out by turns to the lanes that wait. A session is what a query needs of the
 * engine while it runs: one of chDB's, or the right to one more query on a server.
 */
export interface SessionPool<Session> {
  /** @throws TailraceError `overloaded` when too many wait or the wait is too long; the signal's reason when it aborts first */
  acquire(signal: AbortSignal, whose?: Whose): Promise<Session>;
  release(session: Session): void;
  /**
   * Changes every session, each as soon as it is free and before its next query; never turned away. Resolves when all are
   * changed.
   *
   * @throws whatever `change` throws; the other sessions are changed all the same
   */
  renew(change: (session: Session) => Promise<void>): Promise<void>;
  /** Fails everyone who waits. */
  drain(error: TailraceError): void;
  readonly queued: number;
  readonly running: number;
}

// Lane of the service's own work, such as checks of definitions. No key has an empty id.
const OWN_LANE = '';

export function createSessionPool<Session>(
  sessions: readonly Session[],
  limits: PoolLimits,
): SessionPool<Session> {
  const idle = [...sessions];
  const waiting = createLanes<TimedWaiter<Session>>();
  const changes = new Map<Session, (() => Promise<void>)[]>();
  const { mayHold, ...holders } = createHolders<Session>(sessions.length);

  /** Hands out what is free to those whose turn it is. */
  function serve(): void {
    while (idle.length > 0) {
      const next = waiting.shift(mayHold);
      const session = next === undefined ? undefined : idle.pop();
      if (next === undefined || session === undefined) return;
      holders.add(session, next.lane);
      next.waiter.take(session);
    }
  }

  function giveBack(session: Session): void {
    holders.delete(session);
    const change = changes.get(session)?.shift();
    if (change !== undefined) {
      void change().then(() => giveBack(session));
      return;
    }
    idle.push(session);
    serve();
  }

  /** A session when it is this caller's turn. */
  function wait(signal: AbortSignal, { lane = OWN_LANE, onJoin }: Whose): Promise<Session> {
    return new Promise((take, fail) => {
      const waiter = createWaiter({ take, fail: leave }, signal, limits.queueTimeoutMs);
      function leave(error: unknown) {
        waiting.delete(waiter);
        fail(error);
      }
      waiting.push(lane, waiter);
      // Who comes to wait for the same answer brings its own turn, and its own time, to the query.
      onJoin?.((other) => {
        if (!waiting.has(waiter) || findFull(waiting, other, limits) !== undefined) return;
        waiting.push(other, waiter);
        waiter.waitAgain();
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
      if (idle.length > 0 && mayHold(lane)) return wait(signal, { lane, onJoin }); // nobody ahead could use what is free
      if (waiting.size >= limits.queueMax) return Promise.reject(full(`${limits.queueMax} queries`));
      const queries = findFull(waiting, lane, limits);
      return queries === undefined ? wait(signal, { lane, onJoin }) : Promise.reject(full(queries));
    },
    release: giveBack,
    async renew(change) {
      const results = sessions.map((session) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const ofSession = changes.get(session) ?? [];
        ofSession.push(() => change(session).then(resolve, reject));
        changes.set(session, ofSession);
        const at = idle.indexOf(session);
        if (at !== -1) {
          idle.splice(at, 1);
          giveBack(session);
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

/** What of a lane holds as many as it may; `undefined` where there is room for one more. */
function findFull<T>(waiting: Lanes<T>, lane: string, limits: PoolLimits): string | undefined {
  const { queuePerLaneMax, queuePerTokenMax = queuePerLaneMax } = limits;
  const key = keyOfLane(lane);
  if (waiting.lengthOfKey(key) >= queuePerLaneMax) return `${queuePerLaneMax} queries of this key`;
  if (lane === key || waiting.length(lane) < queuePerTokenMax) return undefined;
  return `${queuePerTokenMax} queries of this token`;
}

/** Who holds which session. */
function createHolders<Session>(sessions: number) {
  const lanes = new Map<Session, string>();
  return {
    /**
     * No key may hold the last session: a running query cannot be put aside, so another key's would wait for its end, which
     * may be half a minute away. Nor may a token hold the last of those that its key may hold, where there are several. What
     * a query holds counts until it has really ended.
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
  /** Begins its time anew. */
  waitAgain(): void;
}

/** One who gives up when `signal` aborts or the time is over. */
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
    waitAgain: () => void late.refresh(),
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
