import { setTimeout as pause } from 'node:timers/promises';
import { TailraceError } from '../../errors.ts';
import { createSlots } from '../../lib/slots.ts';
import { sql } from '../../sql/sql.ts';
import type { QueryOptions } from '../engine.ts';
import { createBlame, type Sent } from '../process/blame.ts';
import { type EngineAnswer, EngineLostError } from '../process/channel.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import type { Pulse } from '../process/pulse.ts';
import type { Supervisor } from '../process/supervisor.ts';
import type { SuspectQuery, Suspects } from '../process/suspects.ts';
import { CHANNEL } from './sessions.ts';

/** One query as it is sent to the engine. */
export interface RunningQuery extends SuspectQuery {
  readonly sql: string;
  readonly format: QueryOptions['format'];
  readonly streams: boolean;
  /** Number of the channel that runs it, which runs only this query meanwhile. */
  readonly channel: number;
}

export interface RunningOptions {
  readonly supervisor: Supervisor;
  readonly suspects: Suspects;
  readonly pulse: Pick<Pulse, 'silence'>;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  /** Called for each query that may have ended the engine process. */
  readonly onSuspect: (query: SuspectQuery) => void;
}

// KILL finds a query only once the engine has started it, so it is repeated until the query is gone.
const KILL_AGAIN_MS = 50;
// A query that outlives its deadline and its kill would hold its reader, and perhaps a lock of the engine, forever.
const STUCK_MS = 2_000;
// Queries that ran during a crash are retried one at a time, so that the next crash shows the culprit. Most take less.
const ALONE_MS_MAX = 1_000;

/** Runs queries, and ends each in the engine once no caller waits for it: by a KILL, or if that fails with the engine process. */
export function createRunningQueries(options: RunningOptions) {
  const { supervisor, suspects, onSuspect } = options;
  const { guard, kill } = createKill(options);
  const running = new Map<string, Sent>();
  const blame = createBlame(running);
  const acquire = createSlots(1);
  let last = 0;

  /** @throws EngineLostError; then the query is in `suspects` if it may be the cause */
  async function send(
    query: RunningQuery,
    process: EngineProcess,
    signal: AbortSignal,
  ): Promise<EngineAnswer> {
    // At the start of the text, so that `startsWith` finds only this query.
    const tag = `/* tailrace-${++last} */`;
    const cancelGuard = guard(tag, process, signal);
    running.set(tag, { process, lane: query.lane, sentMs: performance.now() });
    try {
      const text = Buffer.from(`${tag} ${query.sql}`);
      const request = { op: 'query', format: query.format } as const;
      const answer = await process.ask(query.channel, request, text, query.streams);
      suspects.clear(query);
      return answer;
    } catch (error) {
      if (!(error instanceof EngineLostError)) throw error;
      const { tags, end, isOfOneKey } = blame(process, error.end);
      if (tags.has(tag)) {
        // A process may crash once without any query's fault.
        const isCertain = isOfOneKey && (error.end !== undefined || suspects.has(query));
        suspects.suspect(query, { end, isCertain });
        onSuspect(query);
      }
      throw error;
    } finally {
      cancelGuard();
      running.delete(tag);
    }
  }

  async function run(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer> {
    suspects.check(query);
    const lock = suspects.has(query) ? await acquire(signal) : undefined;
    try {
      const process = await supervisor.use(signal);
      suspects.check(query); // its key may have ended the process before this one
      signal.throwIfAborted(); // an earlier abort would never fire again
      lock?.releaseAfter(ALONE_MS_MAX);
      return await send(query, process, signal);
    } finally {
      lock?.release();
    }
  }

  return {
    /**
     * Settles when the engine has really ended the query, even if `signal` aborted earlier. Retries once if the engine process ended
     * meanwhile, by a crash or because of another query.
     *
     * @throws TailraceError `engine_unavailable` for a query that has ended the process before; EngineError, EngineLostError
     */
    async start(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer> {
      try {
        return await run(query, signal);
      } catch (error) {
        if (!(error instanceof EngineLostError)) throw error;
        // After a crash the culprit is uncertain, so all may retry; a query that hung or filled the engine would do it again.
        if (error.end !== undefined && suspects.has(query)) throw error;
        signal.throwIfAborted();
        return await run(query, signal);
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
function createKill({ supervisor, pulse, timeoutMs }: RunningOptions) {
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
    const replace = () =>
      supervisor.replace(process, { reason: 'stuck', culprit: tag, silence: pulse.silence });
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
