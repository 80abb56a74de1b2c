import type { TailraceError } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import type { EngineGauges, QueryOptions, QueryResult } from '../engine.ts';
import { createSessionPool, type PoolLimits } from '../session-pool.ts';
import type { BoundStatement } from '../values.ts';
import { createServerReads, type ReaderOptions } from './reads.ts';

/** One user's queries on a server: so many at once, each on a connection of that user. */
export interface ServerReaders {
  /** @param deadline aborts when no caller waits for the answer any more */
  query(statement: BoundStatement, options: QueryOptions, deadline: AbortSignal): Promise<QueryResult>;
  /** @param filters as `additional_table_filters` has them; see `Engine.setReadFilters` */
  setFilters(filters: string): Promise<void>;
  gauges(): Pick<EngineGauges, 'running' | 'queued'>;
  /** Fails those that wait. */
  drain(error: TailraceError): void;
  /** Stops what runs, with this reason, then closes the connections. */
  stop(reason: Error): Promise<void>;
}

/** The right to one more query on the server, and what it may see. */
interface Turn {
  filters: string;
}

export interface ServerReadersOptions extends ReaderOptions, PoolLimits {
  /** Queries of this user that run at once. */
  readonly readers: number;
  /** At first; as `additional_table_filters` has them. */
  readonly filters: string;
}

export function createServerReaders(options: ServerReadersOptions): ServerReaders {
  const turns = Array.from({ length: options.readers }, (): Turn => ({ filters: options.filters }));
  const pool = createSessionPool(turns, options);
  const reads = createServerReads(options);
  return {
    async query(statement, query, deadline) {
      const turn = await pool.acquire(deadline, query);
      const startedMs = performance.now();
      // The turn is over when the server has ended the query, which after an abort is later than the answer.
      const result = reads
        .start(statement, { ...query, filters: turn.filters, signal: deadline })
        .finally(() => pool.release(turn));
      const bytes = await untilAborted(result, deadline);
      return { bytes, elapsedMs: performance.now() - startedMs };
    },
    setFilters: (filters) =>
      pool.renew(async (turn) => {
        turn.filters = filters;
      }),
    gauges: () => ({ running: pool.running, queued: pool.queued }),
    drain: pool.drain,
    async stop(reason) {
      await reads.stop(reason);
      await options.client.close();
    },
  };
}
