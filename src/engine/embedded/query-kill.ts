import { TailraceError } from '../../errors.ts';
import { quote } from '../../sql/quote.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import type { Pulse } from '../process/pulse.ts';
import type { Supervisor } from '../process/supervisor.ts';

/** Ends queries inside the engine, by their tags: the comments that their texts begin with. */
export interface QueryKill {
  /** Kills the query when `signal` aborts, and ends the process when that does not help. Returns what calls this off. */
  guard(tag: string, process: EngineProcess, signal: AbortSignal): () => void;
  /** Resolves when the engine has taken the order. Never rejects. */
  kill(tag: string, process: EngineProcess): Promise<void>;
}

export interface KillOptions {
  readonly supervisor: Supervisor;
  /** Number of the channel that takes the orders to kill: a session that runs a query cannot. */
  readonly control: number;
  /** Longest time of a query, ms. */
  readonly timeoutMs: number;
  readonly pulse: Pick<Pulse, 'silence'>;
}

// A kill finds a query only once the engine has begun it, so it is sent again until the query is gone.
export const KILL_AGAIN_MS = 50;
// A query that neither its deadline nor a kill ends holds its reader, and perhaps a lock of the engine, for ever.
const STUCK_MS = 2_000;

export function createKill({ supervisor, control, timeoutMs, pulse }: KillOptions): QueryKill {
  const killing = new Set<string>();

  async function kill(tag: string, process: EngineProcess): Promise<void> {
    if (killing.has(tag)) return;
    killing.add(tag);
    // ASYNC: the kill itself must not wait for the query, or one slow query would hold up the next kill.
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

  return { guard, kill };
}

function isLate(reason: unknown): boolean {
  return reason instanceof TailraceError && reason.code === 'query_timeout';
}
