import { TailraceError } from '../../errors.ts';
import { quote } from '../../sql/quote.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import type { Pulse } from '../process/pulse.ts';
import type { Supervisor } from '../process/supervisor.ts';

/** Kills queries inside the engine by their tags: the comment at the start of each text. */
export interface QueryKill {
  /** Kills the query when `signal` aborts, and replaces the process if the kill does not help. @returns cancels the guard */
  guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void;
  /** Resolves when the engine has accepted the KILL. Never rejects. */
  kill(tag: string, process: EngineProcess): Promise<void>;
}

export interface KillOptions {
  readonly supervisor: Supervisor;
  /** Number of the channel for KILL statements: a session that runs a query cannot run them. */
  readonly control: number;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  readonly pulse: Pick<Pulse, 'silence'>;
}

// KILL finds a query only once the engine has started it, so it is repeated until the query is gone.
export const KILL_AGAIN_MS = 50;
// A query that outlives its deadline and its kill would hold its reader, and perhaps a lock of the engine, forever.
const STUCK_MS = 2_000;

export function createKill({ supervisor, control, timeoutMs, pulse }: KillOptions): QueryKill {
  const killing = new Set<string>();

  async function kill(tag: string, process: EngineProcess): Promise<void> {
    if (killing.has(tag)) return;
    killing.add(tag);
    // ASYNC: a KILL that waits for its query would block the next one.
    const sql = `KILL QUERY WHERE startsWith(query, ${quote(tag)}) ASYNC FORMAT Null`;
    await process.ask(control, { op: 'query', format: 'Null' }, Buffer.from(sql)).catch(() => {}); // sent again
    killing.delete(tag);
  }

  function guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void {
    const replace = () =>
      supervisor.replace(process, { reason: 'stuck', culprit: tag, silence: pulse.silence });
    let stuck = setTimeout(replace, timeoutMs + STUCK_MS);
    let again: NodeJS.Timeout | undefined;
    const onAbort = () => {
      void kill(tag, process);
      again = setInterval(() => void kill(tag, process), KILL_AGAIN_MS);
      if (!isLate(signal.reason)) return; // a caller that disconnects does not shorten its query's time limit
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

function isLate(reason: unknown): boolean {
  return reason instanceof TailraceError && reason.code === 'query_timeout';
}
