import { setTimeout as pause } from 'node:timers/promises';
import type { RowFormat } from '../engine.ts';
import { createBlame, type Sent } from '../process/blame.ts';
import { type EngineAnswer, EngineLostError } from '../process/channel.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import type { Suspects } from '../process/suspects.ts';
import { createTurns } from '../process/turns.ts';
import { createKill, KILL_AGAIN_MS, type KillOptions } from './query-kill.ts';

/** One query as it is sent to the engine. */
export interface RunningQuery {
  readonly sql: string;
  readonly format: RowFormat;
  /** Number of the channel that runs it, which runs nothing else meanwhile. */
  readonly channel: number;
  /** The same each time that the same is asked; see `QueryOptions.identity`. */
  readonly identity: string;
  /** See `QueryOptions`. */
  readonly origin?: string | undefined;
  readonly lane?: string | undefined;
}

/** Starts queries so that each ends in the engine when nobody waits for it any more, by a kill or with the engine process. */
export interface RunningQueries {
  /**
   * Settles when the engine is really done with the query, however soon `signal` aborted. A query is run again, once, when the
   * engine process ended under it, by a crash or because of another one.
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

// Queries that ran in a crash begin one after the other, so that the next crash shows which it was. Most of them take less.
const ALONE_MS_MAX = 1_000;

export function createRunningQueries(options: RunningOptions): RunningQueries {
  const { supervisor, suspects, onSuspect } = options;
  const { guard, kill } = createKill(options);
  // The tag leads the text, so that `startsWith` finds this query and no other.
  const running = new Map<string, Sent>();
  const blame = createBlame(running);
  const takeTurn = createTurns();
  let last = 0;

  /** Sends it to a process. @throws EngineLostError; then `suspects` has it, if it may be the cause */
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
    const turn = suspects.has(query) ? await takeTurn(signal) : undefined;
    try {
      const process = await supervisor.use(signal);
      suspects.check(query); // what ended the process that it waited for may have been of its key
      signal.throwIfAborted(); // an abort that came before this would never be noticed again
      turn?.endAfter(ALONE_MS_MAX);
      return await send(query, process, signal);
    } finally {
      turn?.end();
    }
  }

  return {
    async start(query, signal) {
      try {
        return await run(query, signal);
      } catch (error) {
        if (!(error instanceof EngineLostError)) throw error;
        // Of a crash too little is known to refuse all who were there; what hangs or fills the engine would do so again.
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
