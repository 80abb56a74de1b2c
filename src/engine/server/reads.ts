import { untilAborted } from '../../lib/abort.ts';
import { sql } from '../../sql/sql.ts';
import type { QueryOptions, QueryResult } from '../engine.ts';
import { type EngineSettings, fileSettings } from '../read-settings.ts';
import { createSessionPool, type PoolLimits } from '../session-pool.ts';
import type { BoundStatement } from '../values.ts';
import type { ServerAnswer, ServerClient } from './client.ts';
import type { ServerWatch } from './watch.ts';

/** A user that runs queries. */
export interface Reader {
  readonly client: ServerClient;
  /** Sent with each query, its limits included. */
  readonly settings: EngineSettings;
  /** Queries that run at once. */
  readonly slots: number;
}

export interface ReadsOptions extends Reader, PoolLimits {
  readonly resultBytesMax: number;
  readonly watch: Pick<ServerWatch, 'isUp'>;
  /** Further settings, which identify the query's caller. */
  readonly describe: (options: QueryOptions) => EngineSettings;
}

// A server that has not accepted the KILL by then does not run our queries.
const KILL_MS_MAX = 5_000;
const KILL_ANSWER_BYTES_MAX = 1024 * 1024;

/** Settings of every query, beside its limits. */
export const READ_SETTINGS = {
  cancel_http_readonly_queries_on_client_close: 1, // ends a query whose connection closed; KILL is the second way
  http_write_exception_in_output_format: 0, // errors come behind the marker that client.ts looks for
  readonly: 1,
} as const;

/** For the server's query log. */
export function describeQuery({ origin }: QueryOptions): EngineSettings {
  return origin === undefined ? {} : { log_comment: origin };
}

/** For a query with SQL of a caller: the project, for row policies, and the key, for quotas (docs/scaling.md has both). */
export function describeSandboxed({ origin, lane, sandboxed }: QueryOptions): EngineSettings {
  return {
    log_comment: JSON.stringify({ origin, project: sandboxed?.project }),
    ...(lane !== undefined && { quota_key: lane }),
  };
}

/** Runs one user's queries, each in a slot, and kills each on the server once no caller waits for it. */
export function createServerReads(options: ReadsOptions) {
  const { client, settings, resultBytesMax, watch, describe } = options;
  const slots = Array.from({ length: options.slots }, () => ({}));
  const pool = createSessionPool(slots, options);
  const running = new Map<AbortController, Promise<unknown>>();

  async function run(
    write: () => BoundStatement,
    querySettings: EngineSettings,
    signal: AbortSignal,
  ): Promise<ServerAnswer> {
    let started: string | undefined;
    try {
      return await client.send({
        ...write(),
        settings: { ...settings, ...querySettings },
        bytesMax: resultBytesMax,
        signal,
        repeatable: true,
        onStart: (queryId) => {
          started = queryId;
        },
      });
    } catch (error) {
      // An unavailable server cannot accept the KILL; it ends the query when it finds the connection closed.
      if (signal.aborted && started !== undefined && watch.isUp) await kill(client, started);
      throw error;
    }
  }

  return {
    pool,
    /**
     * @param write called once the query has its slot
     * @param deadline aborts when no caller waits for the answer any more
     */
    async query(
      write: () => BoundStatement,
      query: QueryOptions,
      deadline: AbortSignal,
    ): Promise<QueryResult> {
      const slot = await pool.acquire(deadline, query);
      const startedMs = performance.now();
      const stopping = new AbortController();
      const ofFile = fileSettings(query.format);
      const querySettings = {
        default_format: query.format,
        ...describe(query),
        // The answer is complete before its headers, which have the number of its rows.
        ...(ofFile !== undefined && { ...ofFile, wait_end_of_query: 1 }),
      };
      // The slot is released when the server has ended the query, which after an abort is later than the response.
      const result = run(write, querySettings, AbortSignal.any([deadline, stopping.signal])).finally(() => {
        running.delete(stopping);
        pool.release(slot);
      });
      running.set(stopping, result);
      const { bytes, rows } = await untilAborted(result, deadline);
      const elapsedMs = performance.now() - startedMs;
      return { bytes, rows: ofFile === undefined ? undefined : (rows ?? 0), elapsedMs, coreMs: elapsedMs };
    },
    /** Stops running queries with this reason, waits for their end and closes the connections. */
    async stop(reason: Error): Promise<void> {
      for (const stopping of running.keys()) stopping.abort(reason);
      await Promise.allSettled([...running.values()]);
      await client.close();
    },
  };
}

/**
 * Kills a query; SYNC: resolves when the query has ended. KILL of an ended query has no effect. Never rejects; a time
 * limit bounds it.
 */
async function kill(client: ServerClient, queryId: string): Promise<void> {
  const text = sql`KILL QUERY WHERE query_id = ${queryId} SYNC`.text;
  const signal = AbortSignal.timeout(KILL_MS_MAX);
  const bytesMax = KILL_ANSWER_BYTES_MAX;
  await client.send({ sql: text, settings: {}, bytesMax, signal, repeatable: true }).catch(() => {});
}
