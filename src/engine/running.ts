import { TailraceError } from '../errors.ts';
import { quote } from '../sql/quote.ts';
import type { RowFormat } from './engine.ts';
import { type EngineAnswer, EngineLostError } from './process/channel.ts';
import type { EngineProcess } from './process/engine-process.ts';
import type { Supervisor } from './process/supervisor.ts';
import type { Suspects } from './process/suspects.ts';

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
   * engine process ended under it and not because of it.
   *
   * @throws TailraceError `engine_unavailable` for a query that has ended the process before; EngineError, EngineLostError
   */
  start(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer>;
  /** Kills everything and resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export interface RunningOptions {
  readonly supervisor: Supervisor;
  readonly suspects: Suspects;
  /** Number of the channel that takes the orders to kill: a session that runs a query cannot. */
  readonly control: number;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  /** Called for each query that ran when the engine process ended, unless the process was ended because of another. */
  readonly onSuspect: (query: RunningQuery) => void;
}

// A kill finds a query only once the engine has begun it, so it is sent again until the query is gone.
const KILL_AGAIN_MS = 50;
// A query that neither its deadline nor a kill ends holds its reader, and perhaps a lock of the engine, for ever.
const STUCK_MS = 2_000;

export function createRunningQueries(options: RunningOptions): RunningQueries {
  const { supervisor, suspects, control, timeoutMs, onSuspect } = options;
  // The tag leads the text, so that `startsWith` finds this query and no other.
  const running = new Map<string, EngineProcess>();
  const killing = new Set<string>();
  let last = 0;

  async function kill(tag: string, process: EngineProcess): Promise<void> {
    if (killing.has(tag)) return;
    killing.add(tag);
    // ASYNC: the kill itself must not wait for the query, or one slow query would hold up the next kill.
    const sql = `KILL QUERY WHERE startsWith(query, ${quote(tag)}) ASYNC FORMAT Null`;
    await process.ask(control, { op: 'query', format: 'Null' }, Buffer.from(sql)).catch(() => {}); // sent again
    killing.delete(tag);
  }

  /** Kills the query when `signal` aborts, and ends the process when that does not help. Returns what calls this off. */
  function guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void {
    const replace = () => supervisor.replace(process, 'stuck', tag);
    let stuck = setTimeout(replace, timeoutMs + STUCK_MS);
    let again: NodeJS.Timeout | undefined;
    const onAbort = () => {
      void kill(tag, process);
      again = setInterval(() => void kill(tag, process), KILL_AGAIN_MS);
      if (!isLate(signal.reason)) return; // a caller that hangs up does not shorten the time that its query may take
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

  async function run(query: RunningQuery, signal: AbortSignal): Promise<EngineAnswer> {
    suspects.check(query.identity);
    const process = await supervisor.use(signal);
    signal.throwIfAborted(); // an abort that came before this would never be noticed again
    const tag = `/* tailrace-${++last} */`;
    const callOff = guard(tag, process, signal);
    running.set(tag, process);
    try {
      const text = Buffer.from(`${tag} ${query.sql}`);
      const answer = await process.ask(query.channel, { op: 'query', format: query.format }, text);
      suspects.clear(query.identity);
      return answer;
    } catch (error) {
      if (mayHaveEnded(error, tag)) {
        suspects.suspect(query.identity);
        onSuspect(query);
      }
      throw error;
    } finally {
      callOff();
      running.delete(tag);
    }
  }

  return {
    async start(query, signal) {
      try {
        return await run(query, signal);
      } catch (error) {
        if (!(error instanceof EngineLostError)) throw error;
        signal.throwIfAborted();
        return await run(query, signal);
      }
    },
    async stop() {
      while (running.size > 0) {
        await Promise.all([...running].map(([tag, process]) => kill(tag, process)));
        await new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS));
      }
    },
  };
}

function isLate(reason: unknown): boolean {
  return reason instanceof TailraceError && reason.code === 'query_timeout';
}

/** Of a crash, a missed heartbeat or too much memory each query that ran may be the cause. */
function mayHaveEnded(error: unknown, tag: string): boolean {
  return error instanceof EngineLostError && (error.culprit === undefined || error.culprit === tag);
}
