import { setTimeout as pause } from 'node:timers/promises';
import type { RowFormat } from '../engine.ts';
import { createBlame, type Sent } from '../process/blame.ts';
import { type EngineAnswer, EngineLostError } from '../process/channel.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import { createLock } from '../process/lock.ts';
import type { Suspects } from '../process/suspects.ts';
import { createKill, KILL_AGAIN_MS, type KillOptions } from './query-kill.ts';

/** One query as it is sent to the engine. */
export interface RunningQuery {
  readonly sql: string;
  readonly format: RowFormat;
  /** Number of the channel that runs it, which runs nothing else meanwhile. */
  readonly channel: number;
  /** See `QueryOptions.identity`. */
  readonly identity: string;
  /** See `QueryOptions`. */
  readonly origin?: string | undefined;
  readonly lane?: string | undefined;
}

/** Runs queries, and ends each in the engine once no caller waits for it: by a kill, or else with the engine process. */
export interface RunningQueries {
  /**
   * Settles when the engine has really ended the query, even if `signal` aborted earlier. Retries once if the engine process ended
   * meanwhile, by a crash or because of another query.
   *
   * @throws TailraceError `engine_unavailable` for a query that has ended the process before; EngineError, EngineLostError
   */
  start(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer>;
  /** Kills everything and resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export interface RunningOptions extends KillOptions {
  readonly suspects: Suspects;
  /** Called for each query that may be why the engine process ended. */
  readonly onSuspect: (query: RunningQuery) => void;
}

// Queries that ran during a crash are retried one at a time, so that the next crash shows the culprit. Most take less.
const ALONE_MS_MAX = 1_000;

export function createRunningQueries(options: RunningOptions): RunningQueries {
  const { supervisor, suspects, onSuspect } = options;
  const { guard, kill } = createKill(options);
  // The tag leads the text, so that `startsWith` finds this query and no other.
  const running = new Map<string, Sent>();
  const blame = createBlame(running);
  const acquire = createLock();
  let last = 0;

  /** @throws EngineLostError; then the query is in `suspects` if it may be the cause */
  async function send(
    query: RunningQuery,
    process: EngineProcess,
    signal: AbortSignal,
  ): Promise<EngineAnswer> {
    const tag = `/* tailrace-${++last} */`;
    const callOff = guard(tag, process, signal);
    running.set(tag, { process, sentMs: performance.now() });
    try {
      const text = Buffer.from(`${tag} ${query.sql}`);
      const answer = await process.ask(query.channel, { op: 'query', format: query.format }, text);
      suspects.clear(query);
      return answer;
    } catch (error) {
      if (!(error instanceof EngineLostError)) throw error;
      const possible = blame(process, error.end);
      if (possible.has(tag)) {
        suspects.suspect(query, error.end !== undefined && possible.size === 1);
        onSuspect(query);
      }
      throw error;
    } finally {
      callOff();
      running.delete(tag);
    }
  }

  async function run(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer> {
    suspects.check(query);
    const lock = suspects.has(query) ? await acquire(signal) : undefined;
    try {
      const process = await supervisor.use(signal);
      suspects.check(query); // its key may have ended the process that it waited for
      signal.throwIfAborted(); // an earlier abort would never fire again
      lock?.releaseAfter(ALONE_MS_MAX);
      return await send(query, process, signal);
    } finally {
      lock?.release();
    }
  }

  return {
    async start(query, signal) {
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
    async stop() {
      while (running.size > 0) {
        await Promise.all([...running].map(([tag, { process }]) => kill(tag, process)));
        await pause(KILL_AGAIN_MS);
      }
    },
  };
}
