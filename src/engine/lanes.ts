import { TailraceError } from '../errors.ts';
import type { QueueOptions } from './engine.ts';

const SEPARATOR = '/'; // not in any id of a key

/** Returns the lane of a key's own requests, or of one of its tokens. */
export function laneOf(keyId: string, tokenId?: string): string {
  return tokenId === undefined ? keyId : `${keyId}${SEPARATOR}${tokenId}`;
}

export function keyOfLane(lane: string): string {
  const end = lane.indexOf(SEPARATOR);
  return end === -1 ? lane : lane.slice(0, end);
}

/**
 * Fair queue: round-robin across keys, within a key across its tokens, FIFO within a lane. A key with a thousand
 * waiting queries delays another key's first query by one. A lane exists only while a query waits in it.
 */
export function createLanes<T>() {
  // Key → lane → waiters, each in round-robin order: after being served, an item moves to the end. A Set keeps the
  // order of arrival and deletes a waiter without a search.
  const keys = new Map<string, Map<string, Set<T>>>();
  const places = new Map<T, Set<string>>();

  function remove(waiter: T): void {
    for (const lane of places.get(waiter) ?? []) {
      const key = keyOfLane(lane);
      const lanes = keys.get(key);
      const waiters = lanes?.get(lane);
      waiters?.delete(waiter);
      if (waiters?.size === 0) lanes?.delete(lane);
      if (lanes?.size === 0) keys.delete(key);
    }
    places.delete(waiter);
  }

  return {
    /** All waiters. */
    get size(): number {
      return places.size;
    },
    /** Appends a waiter to a lane. It may be in several lanes, and leaves all of them at once. */
    push(lane: string, waiter: T): void {
      const key = keyOfLane(lane);
      const lanes = keys.get(key) ?? new Map<string, Set<T>>();
      const waiters = lanes.get(lane) ?? new Set();
      keys.set(key, lanes.set(lane, waiters.add(waiter)));
      places.set(waiter, (places.get(waiter) ?? new Set()).add(lane));
    },
    delete: remove,
    has: (waiter: T) => places.has(waiter),
    /** Takes the first waiter of the next lane, skipping lanes that may not be served now. */
    shift(mayServe: (lane: string) => boolean): { readonly lane: string; readonly waiter: T } | undefined {
      for (const [key, lanes] of keys) {
        for (const [lane, waiters] of lanes) {
          const [waiter] = waiters;
          if (waiter === undefined || !mayServe(lane)) continue;
          moveToEnd(lanes, lane);
          moveToEnd(keys, key);
          remove(waiter);
          return { lane, waiter };
        }
      }
      return undefined;
    },
    /** Waiters of a lane. */
    length: (lane: string) => keys.get(keyOfLane(lane))?.get(lane)?.size ?? 0,
    /** Waiters of all lanes of a key. */
    lengthOfKey: (key: string) =>
      [...(keys.get(key)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0),
    waiters: () => [...places.keys()],
  };
}

type Lanes<T> = ReturnType<typeof createLanes<T>>;

function moveToEnd<T>(map: Map<string, T>, name: string): void {
  const value = map.get(name);
  if (value === undefined) return;
  map.delete(name);
  map.set(name, value);
}

interface Waiter<Session> {
  take(session: Session): void;
  fail(error: unknown): void;
}

export interface PoolLimits {
  /** Queries that may wait; one more is rejected, since its answer would come too late. */
  readonly queueMax: number;
  /** The same for each key with all its tokens, so that no key fills the queue. */
  readonly queuePerLaneMax: number;
  /** The same for each token of a key. Default: as for a key. */
  readonly queuePerTokenMax?: number;
  /** Longest wait; then the query is rejected. */
  readonly queueTimeoutMs: number;
}

/** The work that a pool serves, if that is not queries. */
export interface PoolWork {
  /** For messages. */
  readonly one: string;
  readonly many: string;
  /** Whether a lane may hold one more session. @param held the lane of each held session */
  readonly mayHold: (lane: string, held: readonly string[], sessions: number) => boolean;
}

const QUERIES: PoolWork = { one: 'query', many: 'queries', mayHold: mayQuery };

// Lane of internal work, such as checks of definitions. No key has an empty id.
const OWN_LANE = '';

/**
 * Creates a pool of sessions that run one query at a time each; a fair queue assigns them to waiting lanes. A session
 * is what a query holds while it runs: a session of chDB, or a slot for one more query on a server.
 */
export function createSessionPool<Session>(
  sessions: readonly Session[],
  limits: PoolLimits,
  { one, many, mayHold }: PoolWork = QUERIES,
) {
  const idle = [...sessions];
  const waiting = createLanes<Waiter<Session>>();
  /** Held session → its lane. */
  const holders = new Map<Session, string>();
  const mayServe = (lane: string) => mayHold(lane, [...holders.values()], sessions.length);

  /** Gives idle sessions to the next lanes. */
  function serve(): void {
    while (idle.length > 0) {
      const next = waiting.shift(mayServe);
      const session = next === undefined ? undefined : idle.pop();
      if (next === undefined || session === undefined) return;
      holders.set(session, next.lane);
      next.waiter.take(session);
    }
  }

  function release(session: Session): void {
    holders.delete(session);
    idle.push(session);
    serve();
  }

  /** Queues for a session. */
  function wait(signal: AbortSignal, lane: string, onJoin: QueueOptions['onJoin']): Promise<Session> {
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const onAbort = () => waiter.fail(signal.reason);
    const timer = setTimeout(() => waiter.fail(tooLong(one, limits.queueTimeoutMs)), limits.queueTimeoutMs);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      waiting.delete(waiter);
    };
    const waiter: Waiter<Session> = {
      take(session) {
        end();
        resolve(session);
      },
      fail(error) {
        end();
        reject(error);
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push(lane, waiter);
    // A caller that joins the flight adds its own lane, and its own time, to the query.
    onJoin?.((other) => {
      if (!waiting.has(waiter) || findFull(waiting, other, limits) !== undefined) return;
      waiting.push(other, waiter);
      timer.refresh();
      serve();
    });
    serve();
    return promise;
  }

  return {
    get queued(): number {
      return waiting.size;
    },
    get running(): number {
      return sessions.length - idle.length;
    },
    /**
     * @throws TailraceError `overloaded` when the queue is full or the wait is too long; the signal's reason when it
     * aborts first
     */
    acquire(signal: AbortSignal, { lane = OWN_LANE, onJoin }: QueueOptions = {}): Promise<Session> {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (idle.length > 0 && mayServe(lane)) return wait(signal, lane, onJoin); // no waiting lane may take what is idle
      const isFull = waiting.size >= limits.queueMax;
      const full = isFull ? { max: limits.queueMax, whose: '' } : findFull(waiting, lane, limits);
      if (full === undefined) return wait(signal, lane, onJoin);
      const message = `${full.max} ${many}${full.whose} are waiting already`;
      return Promise.reject(new TailraceError('overloaded', message));
    },
    release,
    /** Rejects every waiting query. */
    drain(error: TailraceError): void {
      for (const waiter of waiting.waiters()) waiter.fail(error);
    },
  };
}

/** Finds the bound that a lane has reached; `undefined`: one more may wait in it, or join what waits in another one. */
function findFull<T>(waiting: Lanes<T>, lane: string, limits: PoolLimits) {
  const { queuePerLaneMax, queuePerTokenMax = queuePerLaneMax } = limits;
  const key = keyOfLane(lane);
  if (waiting.lengthOfKey(key) >= queuePerLaneMax) return { max: queuePerLaneMax, whose: ' of this key' };
  if (lane === key || waiting.length(lane) < queuePerTokenMax) return undefined;
  return { max: queuePerTokenMax, whose: ' of this token' };
}

/**
 * Whether a lane may hold one more session. No key may hold the last one: a running query cannot be suspended, so
 * another key's query would wait up to half a minute for its end. Nor may a token hold the last session that its key
 * may hold, if there are several. A session counts as held until its query has really ended.
 *
 * @param held the lane of each held session
 */
function mayQuery(lane: string, held: readonly string[], sessions: number): boolean {
  if (lane === OWN_LANE || sessions === 1) return true;
  const key = keyOfLane(lane);
  if (held.filter((other) => keyOfLane(other) === key).length >= sessions - 1) return false;
  return lane === key || held.filter((other) => other === lane).length < Math.max(sessions - 2, 1);
}

function tooLong(work: string, queueTimeoutMs: number): TailraceError {
  const message = `the ${work} waited ${queueTimeoutMs} ms for its turn; try again later`;
  return new TailraceError('overloaded', message, { retryAfterSeconds: Math.ceil(queueTimeoutMs / 1000) });
}
