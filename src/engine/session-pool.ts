import { TailraceError } from '../errors.ts';
import type { Whose } from './engine.ts';
import { createLanes, keyOfLane, type Lanes } from './lanes.ts';

/** What a query needs of the engine while it runs: a session of chDB, or the right to one more query on a server. */
export interface PoolSession {
  close(): void;
}

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

/** Sessions that run one query at a time each, handed out by turns to the lanes that wait. */
export interface SessionPool<Session> {
  /** @throws TailraceError `overloaded` when too many wait or the wait is too long; the signal's reason when it aborts first */
  acquire(signal: AbortSignal, whose?: Whose): Promise<Session>;
  release(session: Session): void;
  /**
   * Puts sessions from `open` in the place of all, which it closes when they are free. It goes before every caller, since
   * each session that it has already stands idle until it has the last; and it is never turned away.
   */
  reopen(open: () => Promise<Session>): Promise<void>;
  /** Closes every session; to be called when none runs any more. */
  close(): void;
  /** Fails everyone who waits. */
  drain(error: TailraceError): void;
  readonly queued: number;
  readonly running: number;
}

// Lane of the service's own work, such as checks of definitions. No key has an empty id.
const OWN_LANE = '';

export function createSessionPool<Session extends PoolSession>(
  sessions: readonly Session[],
  limits: PoolLimits,
): SessionPool<Session> {
  let all = [...sessions];
  const idle = [...sessions];
  const waiting = createLanes<TimedWaiter<Session>>();
  const reopening = new Set<Waiter<Session>>();
  const { mayHold, ...holders } = createHolders<Session>(sessions.length);

  /** Hands out what is free to those whose turn it is. */
  function serve(): void {
    while (idle.length > 0) {
      const [reopener] = reopening;
      const next = reopener === undefined ? waiting.shift(mayHold) : { lane: OWN_LANE, waiter: reopener };
      const session = next === undefined ? undefined : idle.pop();
      if (next === undefined || session === undefined) return;
      reopening.delete(next.waiter);
      holders.add(session, next.lane);
      next.waiter.take(session);
    }
  }

  function giveBack(session: Session): void {
    holders.delete(session);
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
      return waiting.size + reopening.size;
    },
    get running() {
      return all.length - idle.length;
    },
    acquire(signal, { lane = OWN_LANE, onJoin } = {}) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (idle.length > 0 && mayHold(lane)) return wait(signal, { lane, onJoin }); // nobody ahead could use what is free
      if (waiting.size >= limits.queueMax) return Promise.reject(full(`${limits.queueMax} queries`));
      const queries = findFull(waiting, lane, limits);
      return queries === undefined ? wait(signal, { lane, onJoin }) : Promise.reject(full(queries));
    },
    release: giveBack,
    async reopen(open) {
      const fresh = await Promise.all(all.map(open));
      try {
        const taken = all.map(() => new Promise<Session>((take, fail) => void reopening.add({ take, fail })));
        serve();
        for (const session of await Promise.all(taken)) {
          holders.delete(session);
          session.close();
        }
        all = fresh;
      } catch (error) {
        for (const session of fresh) session.close();
        throw error;
      }
      for (const session of fresh) giveBack(session);
    },
    close() {
      for (const session of all) session.close();
    },
    drain(error) {
      for (const waiter of [...waiting.waiters(), ...reopening]) waiter.fail(error);
      reopening.clear();
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
