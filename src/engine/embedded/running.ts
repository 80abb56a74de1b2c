import { setTimeout as pause } from 'node:timers/promises';
import { TailraceError } from '../../errors.ts';
import { createSlots } from '../../lib/slots.ts';
import { sql } from '../../sql/sql.ts';
import type { QueryOptions } from '../engine.ts';
import {
  type EngineAnswer,
  type EngineEnd,
  EngineLostError,
  type EngineProcess,
} from '../process/engine-process.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { createSuspects, type SuspectQuery } from '../process/suspects.ts';
import { CHANNEL } from './sessions.ts';

/** One query as it is sent to the engine. */
export interface RunningQuery extends Pick<QueryOptions, 'origin' | 'lane' | 'format'> {
  readonly sql: string;
  readonly streams: boolean;
  /** Number of the channel that runs it, which runs only this query meanwhile. */
  readonly channel: number;
}

export interface RunningOptions {
  readonly supervisor: Supervisor;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  /** Called for each query that may have ended the engine process. */
  readonly onSuspect: (query: Pick<QueryOptions, 'origin' | 'lane'>) => void;
}

interface Sent extends SuspectQuery, Pick<QueryOptions, 'origin'> {
  readonly process: EngineProcess;
}

// KILL finds a query only once the engine has started it, so it is repeated until the query is gone.
const KILL_AGAIN_MS = 50;
// A query that outlives its deadline and its kill would hold its reader, and perhaps a lock of the engine, forever.
const STUCK_MS = 2_000;
// Queries that ran when the process ended are retried one at a time, so that the next end shows the culprit. Most take less.
const ALONE_MS_MAX = 1_000;

/**
 * Runs queries, and ends each in the engine once no caller waits for it: by a KILL, or if that fails with the engine
 * process.
 */
export function createRunningQueries({ supervisor, timeoutMs, onSuspect }: RunningOptions) {
  const { guard, kill } = createKill(supervisor, timeoutMs);
  const suspects = createSuspects();
  const running = new Map<string, Sent>();
  const counted = new WeakSet<EngineProcess>();
  const acquire = createSlots(1);
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

  /** @throws EngineLostError */
  async function send(query: RunningQuery, sent: Sent, signal: AbortSignal): Promise<EngineAnswer> {
    // At the start of the text, so that `startsWith` finds only this query.
    const tag = `/* tailrace-${++last} */`;
    const { process } = sent;
    const cancelGuard = guard(tag, process, signal);
    running.set(tag, sent);
    try {
      const text = Buffer.from(`${tag} ${query.sql}`);
      return await process.ask(query.channel, { op: 'query', format: query.format }, text, query.streams);
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
    const turn = isAgain ? await acquire(signal) : undefined;
    try {
      const process = await supervisor.use(signal);
      suspects.check(lane); // its key may have ended the process before this one
      signal.throwIfAborted(); // an earlier abort would never fire again
      turn?.releaseAfter(ALONE_MS_MAX);
      return await send(query, { process, lane, origin, isAgain }, signal);
    } finally {
      turn?.release();
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

/** Kills queries inside the engine by their tags: the comment at the start of each text. */
function createKill(supervisor: Supervisor, timeoutMs: number) {
  const killing = new Set<string>();

  /** Resolves when the engine has accepted the KILL. Never rejects. */
  async function kill(tag: string, process: EngineProcess): Promise<void> {
    if (killing.has(tag)) return;
    killing.add(tag);
    // ASYNC: a KILL that waits for its query would block the next one.
    const statement = sql`KILL QUERY WHERE startsWith(query, ${tag}) ASYNC FORMAT Null`;
    await process
      .ask(CHANNEL.control, { op: 'query', format: 'Null' }, Buffer.from(statement.text))
      .catch(() => {}); // sent again
    killing.delete(tag);
  }

  /** Kills the query when `signal` aborts, and replaces the process if the kill does not help. @returns cancels the guard */
  function guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void {
    const replace = () => supervisor.replace(process, { reason: 'stuck', culprit: tag });
    let stuck = setTimeout(replace, timeoutMs + STUCK_MS);
    let again: NodeJS.Timeout | undefined;
    const onAbort = () => {
      void kill(tag, process);
      again = setInterval(() => void kill(tag, process), KILL_AGAIN_MS);
      const isLate = signal.reason instanceof TailraceError && signal.reason.code === 'query_timeout';
      if (!isLate) return; // a caller that disconnects does not shorten its query's time limit
      clearTimeout(stuck);
      stuck = setTimeout(replace, STUCK_MS);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(stuck);
      clearInterval(again);
    };
  }

  return { guard, kill };
}
