import { randomUUID } from 'node:crypto';
import { untilAborted } from '../../lib/abort.ts';
import { sql } from '../../sql/sql.ts';
import type { InsertBatch, QueryOptions, QueryResult } from '../engine.ts';
import { createSessionPool, type PoolLimits } from '../lanes.ts';
import {
  type BoundStatement,
  type EngineSettings,
  FORMAT_SETTINGS,
  fileSettings,
  SANDBOX_LIMITS,
  SQL_BYTES_MAX,
} from '../read-settings.ts';
import type { ServerAnswer, ServerClient, ServerRequest } from './client.ts';

/** A user that runs queries. */
export interface Reader {
  readonly client: ServerClient;
  /** Sent with each query, its limits included. */
  readonly settings: EngineSettings;
  /** Queries that run at once. */
  readonly slots: number;
  /** Whether it only runs SQL that callers write. */
  readonly isSandbox: boolean;
}

interface ReadsOptions extends Reader, PoolLimits {
  readonly resultBytesMax: number;
  readonly watch: { readonly isUp: boolean };
}

// A server that has not accepted the KILL by then does not run our queries.
const KILL_MS_MAX = 5_000;

/** Settings of every query, beside its limits. */
export const READ_SETTINGS = {
  cancel_http_readonly_queries_on_client_close: 1, // ends a query whose connection closed; KILL is the second way
  http_write_exception_in_output_format: 0, // errors come behind the marker that client.ts looks for
  readonly: 1,
} as const;

/**
 * Settings that identify a query in the server's log; for the sandbox user also the project, for row policies, and the
 * key, for quotas (docs/scaling.md has both). Without that user, SQL of a caller has its limits here.
 */
function describeQuery({ origin, lane, sandboxed }: QueryOptions, isSandbox: boolean): EngineSettings {
  if (isSandbox)
    return {
      log_comment: JSON.stringify({ origin, project: sandboxed?.project }),
      ...(lane !== undefined && { quota_key: lane }),
    };
  return {
    ...(origin !== undefined && { log_comment: origin }),
    ...(sandboxed !== undefined && SANDBOX_LIMITS),
  };
}

/** Runs one user's queries, each in a slot, and kills each on the server once no caller waits for it. */
export function createServerReads(options: ReadsOptions) {
  const { client, settings, isSandbox, resultBytesMax, watch } = options;
  const slots = Array.from({ length: options.slots }, () => ({}));
  const pool = createSessionPool(slots, options);
  const running = new Set<Promise<unknown>>();
  const stopping = new AbortController();

  /** Sends a query, and kills it if the signal aborts. */
  async function run(request: ServerRequest): Promise<ServerAnswer> {
    let started: string | undefined;
    const onStart = (queryId: string) => {
      started = queryId;
    };
    try {
      return await client.send({ ...request, onStart });
    } catch (error) {
      // An unavailable server cannot accept the KILL; it ends the query when it finds the connection closed.
      if (request.signal.aborted && started !== undefined && watch.isUp) await kill(client, started);
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
      const ofFile = fileSettings(query.format);
      const start = async () =>
        await run({
          ...write(),
          settings: {
            ...settings,
            default_format: query.format,
            ...describeQuery(query, isSandbox),
            // The answer is complete before its headers, which have the number of its rows.
            ...(ofFile !== undefined && { ...ofFile, wait_end_of_query: 1 }),
          },
          bytesMax: resultBytesMax,
          signal: AbortSignal.any([deadline, stopping.signal]),
        });
      // The slot is released when the server has ended the query, which after an abort is later than the response.
      const result = start().finally(() => {
        running.delete(result);
        pool.release(slot);
      });
      running.add(result);
      const { bytes, rows } = await untilAborted(result, deadline);
      const elapsedMs = performance.now() - startedMs;
      return { bytes, rows: ofFile === undefined ? undefined : (rows ?? 0), elapsedMs, coreMs: elapsedMs };
    },
    /** Stops running queries with this reason, waits for their end and closes the connections. */
    async stop(reason: Error): Promise<void> {
      stopping.abort(reason);
      await Promise.allSettled(running);
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
  await client.send({ sql: text, settings: {}, signal }).catch(() => {});
}

// A server on which an insert takes longer is unusable.
const INSERT_MS_MAX = 60_000;
/** Longer than the 180 s for which the server itself waits for all servers of a cluster. */
export const COMMAND_MS_MAX = 200_000;
const INSPECT_MS_MAX = 60_000;

// The server responds to an insert or a statement only when it is done, so that the status is its result.
const WRITE_SETTINGS = { wait_end_of_query: 1, max_query_size: SQL_BYTES_MAX } as const;
const INSERT_SETTINGS = {
  ...WRITE_SETTINGS,
  async_insert: 0, // inserts are grouped already, and a response has to mean that they are stored
  max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each
  insert_deduplicate: 1,
} as const;
const INSPECT_SETTINGS = {
  ...FORMAT_SETTINGS,
  max_query_size: SQL_BYTES_MAX,
  default_format: 'JSONEachRow',
} as const;

/** Returns the request that stores rows. @param reach aborts when the server becomes unavailable */
export function toInsert(batch: InsertBatch, cluster: string, reach: AbortSignal): ServerRequest {
  if (batch.format === 'blocks') throw new TypeError('a server takes no blocks of rows');
  const { table, columns, format, bytes, token } = batch;
  const names = columns.map((name) => `\`${name}\``).join(', ');
  return {
    sql: `INSERT INTO \`${table}\` (${names}) FORMAT ${format}`,
    body: bytes,
    settings: {
      ...INSERT_SETTINGS,
      // Returns when all shards have their rows, not when they are queued for them.
      ...(cluster !== '' && { distributed_foreground_insert: 1 }),
      insert_deduplication_token: token ?? randomUUID(), // so the rows can be sent again if the response was lost
    },
    signal: AbortSignal.any([AbortSignal.timeout(INSERT_MS_MAX), reach]),
  };
}

export function toCommand(sql: string): ServerRequest {
  return { sql, settings: WRITE_SETTINGS, signal: AbortSignal.timeout(COMMAND_MS_MAX), repeatable: false };
}

export function toInspection(sql: string): ServerRequest {
  return { sql, settings: INSPECT_SETTINGS, signal: AbortSignal.timeout(INSPECT_MS_MAX) };
}
