import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';
import { createLock } from '../../lib/abort.ts';
import { sql } from '../../sql/sql.ts';
import type { QueryOptions } from '../engine.ts';
import { keyOfLane } from '../lanes.ts';
import { type EngineAnswer, type EngineEnd, EngineLostError } from '../process/channel.ts';
import type { EngineProcess, Supervisor } from '../process/engine-process.ts';
import { CHANNEL } from './sessions.ts';

/** One query as it is sent to the engine. */
export interface RunningQuery extends Pick<QueryOptions, 'origin' | 'lane' | 'format'> {
  readonly sql: string;
  /** Number of the channel that runs it, which runs only this query meanwhile. */
  readonly channel: number;
}

/** A query that may have ended the engine: its endpoint and first request, and a key's id. */
export type Suspect = Pick<QueryOptions, 'origin' | 'lane'>;

export interface RunningOptions {
  readonly supervisor: Supervisor;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  readonly onSuspect: (query: Suspect) => void;
}

interface Sent extends Suspect {
  readonly process: EngineProcess;
  /** Whether it is running for the second time, since an earlier process ended under it. */
  readonly isAgain: boolean;
}

type SuspectQuery = Pick<Sent, 'lane' | 'isAgain'>;

// KILL finds a query only once the engine has started it, so it is repeated until the query is gone.
const KILL_AGAIN_MS = 50;
// A query that outlives its deadline and its kill would hold its reader, and perhaps a lock of the engine, forever.
const STUCK_MS = 2_000;
// Queries that ran when the process ended are retried one at a time, so that the next end shows the culprit. Most take less.
const ALONE_MS_MAX = 1_000;

/** Runs queries, and ends each in the engine once no caller waits for it: by a KILL, or with the engine process. */
export function createRunningQueries({ supervisor, timeoutMs, onSuspect }: RunningOptions) {
  const suspects = createSuspects();
  const running = new Map<string, Sent>();
  const counted = new WeakSet<EngineProcess>();
  const acquire = createLock();
  let last = 0;

  /** Counts the end of a process once: when its first query fails, and the others are still listed. */
  function countEnd(process: EngineProcess, end: EngineEnd | undefined): void {
    if (counted.has(process)) return;
    counted.add(process);
    const sent = [...running].filter(([tag, query]) => {
      return query.process === process && (end?.culprit === undefined || end.culprit === tag);
    });
    for (const { origin, lane } of suspects.count(sent.map(([, query]) => query)))
      onSuspect({ origin, lane });
  }

  /** Kills the query when `signal` aborts, and replaces the process if the kill does not help. @returns cancels the guard */
  function guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void {
    const replace = () => supervisor.replace(process, { reason: 'stuck', culprit: tag });
    let stuck = setTimeout(replace, timeoutMs + STUCK_MS);
    const onAbort = async () => {
      // A caller that disconnects does not shorten its query's time limit.
      if (signal.reason instanceof TailraceError && signal.reason.code === 'query_timeout') {
        clearTimeout(stuck);
        stuck = setTimeout(replace, STUCK_MS);
      }
      for (; running.has(tag); await pause(KILL_AGAIN_MS)) await kill(tag, process);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(stuck);
    };
  }

  /** @throws EngineLostError */
  async function send(query: RunningQuery, sent: Sent, signal: AbortSignal): Promise<EngineAnswer> {
    // At the start of the text, so that `startsWith` finds only this query.
    const tag = `/* tailrace-${++last} */`;
    const { process } = sent;
    const cancelGuard = guard(tag, process, signal);
    running.set(tag, sent);
    try {
      const text = Buffer.from(`${tag} ${query.sql}`);
      return await process.ask(query.channel, { op: 'query', format: query.format }, text);
    } catch (error) {
      if (error instanceof EngineLostError) countEnd(process, error.end);
      throw error;
    } finally {
      cancelGuard();
      running.delete(tag);
    }
  }

  async function run(query: RunningQuery, signal: AbortSignal, isAgain: boolean): Promise<EngineAnswer> {
    const { lane, origin } = query;
    suspects.check(lane);
    const release = isAgain ? await acquire(signal) : () => {};
    try {
      const process = await supervisor.use(signal);
      suspects.check(lane); // its key may have ended the process before this one
      signal.throwIfAborted(); // an earlier abort would never fire again
      if (isAgain) setTimeout(release, ALONE_MS_MAX).unref();
      return await send(query, { process, lane, origin, isAgain }, signal);
    } finally {
      release();
    }
  }

  return {
    /**
     * Settles when the engine has really ended the query, even if `signal` aborted earlier. Retries once if the engine
     * process ended meanwhile, by a crash or because of another query.
     *
     * @throws TailraceError `engine_unavailable` while its key has to wait; EngineError, EngineLostError
     */
    async start(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer> {
      try {
        return await run(query, signal, false);
      } catch (error) {
        if (!(error instanceof EngineLostError)) throw error;
        signal.throwIfAborted();
        return await run(query, signal, true);
      }
    },
    /** Kills everything and resolves when nothing runs any more. */
    async stop(): Promise<void> {
      while (running.size > 0) {
        await Promise.all([...running].map(([tag, { process }]) => kill(tag, process)));
        await pause(KILL_AGAIN_MS);
      }
    },
  };
}

/** Kills a query inside the engine by its tag. Resolves when the engine has accepted the KILL. Never rejects. */
async function kill(tag: string, process: EngineProcess): Promise<void> {
  // ASYNC: a KILL that waits for its query would block the next one.
  const statement = sql`KILL QUERY WHERE startsWith(query, ${tag}) ASYNC FORMAT Null`;
  await process
    .ask(CHANNEL.control, { op: 'query', format: 'Null' }, Buffer.from(statement.text))
    .catch(() => {}); // sent again
}

// By the number of ends: a process may crash once without any query's fault. Bounded, since the fault may be the
// endpoint's, and may be fixed.
const WAIT_MS = [0, 5_000, 30_000, 300_000, 900_000, 3_600_000] as const;
const WAIT_MS_MAX = WAIT_MS[5];
// Longer than any wait: a key that only waits for its end would begin with the shortest again.
const REMEMBERED_MS = 2 * WAIT_MS_MAX;
// At the bound the least recently used one is dropped.
const KEYS_MAX = 1_000;

export type Suspects = ReturnType<typeof createSuspects>;

/** Makes a key wait, with all its tokens, whose queries were running at two ends of the process: longer each time. */
export function createSuspects(now: () => number = () => performance.now()) {
  const keys = new LRUCache<string, { ends: number; untilMs: number }>({
    ...{ max: KEYS_MAX, ttl: REMEMBERED_MS, ttlResolution: 0, perf: { now } },
  });
  const endsOf = ({ lane }: SuspectQuery) =>
    lane === undefined ? 0 : (keys.get(keyOfLane(lane))?.ends ?? 0);

  /**
   * The queries that were running again run one at a time, so the process ended because of one of them, if there is
   * one; otherwise because of a key that has ended it before, if one is there. So a key that keeps ending it makes no
   * other key wait.
   */
  function findSuspects<Query extends SuspectQuery>(running: readonly Query[]): readonly Query[] {
    const again = running.filter(({ isAgain }) => isAgain);
    if (again.length > 0) return again;
    const most = Math.max(...running.map(endsOf));
    return running.filter((query) => endsOf(query) === most);
  }

  return {
    /** @throws TailraceError `engine_unavailable` while the key of a lane has to wait */
    check(lane: string | undefined): void {
      if (lane === undefined || keys.size === 0) return;
      const remainingMs = (keys.get(keyOfLane(lane))?.untilMs ?? 0) - now();
      if (remainingMs <= 0) return;
      const retryAfterSeconds = Math.ceil(remainingMs / 1000);
      const message = `queries of this key have ended the engine and are rejected for ${retryAfterSeconds} s; ask for less`;
      throw new TailraceError('engine_unavailable', message, { retryAfterSeconds });
    },
    /**
     * Counts an end of the process. If the queries of several keys may be the cause, none has to wait yet.
     *
     * @param running on that process
     * @returns the queries that may have ended it
     */
    count<Query extends SuspectQuery>(running: readonly Query[]): readonly Query[] {
      const suspects = findSuspects(running);
      const ended = new Set(suspects.map(({ lane = '' }) => keyOfLane(lane)));
      for (const key of ended) {
        const { ends: before = 0, untilMs = 0 } = keys.get(key) ?? {};
        const ends = ended.size === 1 ? before + 1 : Math.max(before, 1);
        const waitMs = ends === before ? 0 : (WAIT_MS[ends - 1] ?? WAIT_MS_MAX);
        keys.set(key, { ends, untilMs: Math.max(untilMs, now() + waitMs) });
      }
      return suspects;
    },
  };
}
