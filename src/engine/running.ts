import type { ChdbResult, Session } from 'chdb';
import { quote } from '../sql/quote.ts';
import type { RowFormat } from './engine.ts';
import { runStatement } from './statement.ts';

/** Starts queries so that each can be stopped inside the engine, which a chDB call by itself cannot. */
export interface RunningQueries {
  /** Settles when the engine is really done with the query, however soon `signal` aborted. */
  start(session: Session, sql: string, format: RowFormat, signal: AbortSignal): Promise<ChdbResult>;
  /** Stops everything and resolves when nothing runs any more. */
  stop(): Promise<void>;
}

// A kill finds a query only once the engine has begun it, so it is sent again until the query is gone.
const KILL_AGAIN_MS = 50;

/** @param control a session of its own: the one that runs a query cannot take the order to kill it */
export function createRunningQueries(control: Session): RunningQueries {
  // The tag leads the text, so that `startsWith` finds this query and no other.
  const tags = new Set<string>();
  let last = 0;

  async function kill(tag: string): Promise<void> {
    // ASYNC: the kill itself must not wait for the query, or one slow query would hold up the next kill.
    const sql = `KILL QUERY WHERE startsWith(query, ${quote(tag)}) ASYNC FORMAT Null`;
    await control.queryAsync(sql).catch(() => {}); // sent again as long as the query runs
  }

  return {
    async start(session, sql, format, signal) {
      signal.throwIfAborted(); // an abort that came before this would never be heard again
      const tag = `/* tailrace-${++last} */`;
      let again: NodeJS.Timeout | undefined;
      const onAbort = () => {
        void kill(tag);
        again = setInterval(() => void kill(tag), KILL_AGAIN_MS);
      };
      tags.add(tag);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await runStatement(session, `${tag} ${sql}`, format);
      } finally {
        signal.removeEventListener('abort', onAbort);
        clearInterval(again);
        tags.delete(tag);
      }
    },
    async stop() {
      while (tags.size > 0) {
        await Promise.all([...tags].map(kill));
        await new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS));
      }
    },
  };
}
