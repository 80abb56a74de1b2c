import { quote } from '../../sql/quote.ts';
import type { QueryOptions } from '../engine.ts';
import type { EngineSettings } from '../read-settings.ts';
import type { BoundStatement } from '../values.ts';
import type { ServerClient } from './client.ts';
import type { ServerWatch } from './watch.ts';

export interface ReadOptions extends Pick<QueryOptions, 'format' | 'origin' | 'lane' | 'sandboxed'> {
  /** As `additional_table_filters` has it. */
  readonly filters: string;
  readonly signal: AbortSignal;
}

/** A user that runs queries. */
export interface Reader {
  readonly client: ServerClient;
  /** What each query is sent with, its limits included. */
  readonly settings: EngineSettings;
}

export interface ReaderOptions extends Reader {
  readonly resultBytesMax: number;
  readonly watch: Pick<ServerWatch, 'isUp'>;
  /** Further settings of a query that identify its caller. */
  readonly describe: (options: ReadOptions) => EngineSettings;
}

/** Runs callers' queries, and kills each on the server once no caller waits for it. */
export interface ServerReads {
  /** Settles when the server is done with the query, as far as it can be asked. */
  start(statement: BoundStatement, options: ReadOptions): Promise<Buffer>;
  /** Stops everything, with this reason, and resolves when nothing runs any more. */
  stop(reason: Error): Promise<void>;
}

// A server that does not even take the order to stop a query by then runs none for us.
const KILL_MS_MAX = 5_000;
const KILL_ANSWER_BYTES_MAX = 1024 * 1024;

/** How each query of a user is sent, beside its limits. */
export const READ_SETTINGS = {
  cancel_http_readonly_queries_on_client_close: 1, // the first way in which it ends; the order to kill it is the second
  http_write_exception_in_output_format: 0, // an error comes behind the mark that server-exception.ts looks for
  readonly: 1,
} as const;

/** For the server's log of queries. */
export function describeQuery({ origin }: ReadOptions): EngineSettings {
  return origin === undefined ? {} : { log_comment: origin };
}

/**
 * Of a query that holds SQL of a caller: the project, which row policies compare, and the key, which a quota can count by
 * (docs/scaling.md has both).
 */
export function describeSandboxed({ origin, lane, sandboxed }: ReadOptions): EngineSettings {
  return {
    log_comment: JSON.stringify({ origin, project: sandboxed?.project }),
    ...(lane !== undefined && { quota_key: lane }),
  };
}

export function createServerReads(options: ReaderOptions): ServerReads {
  const { client, settings, resultBytesMax, watch, describe } = options;
  const running = new Map<AbortController, Promise<unknown>>();

  /** SYNC: resolves when the query has ended. Of a query that has, there is nothing to kill. */
  async function kill(queryId: string): Promise<void> {
    await client
      .send({
        sql: `KILL QUERY WHERE query_id = ${quote(queryId)} SYNC`,
        settings: {},
        bytesMax: KILL_ANSWER_BYTES_MAX,
        signal: AbortSignal.timeout(KILL_MS_MAX),
        repeatable: true,
      })
      .catch(() => {}); // it ends by its own time limit, if by nothing else
  }

  async function run(statement: BoundStatement, options: ReadOptions): Promise<Buffer> {
    const { format, filters, signal } = options;
    let started: string | undefined;
    try {
      return await client.send({
        ...statement,
        settings: {
          ...settings,
          default_format: format,
          additional_table_filters: filters,
          ...describe(options),
        },
        bytesMax: resultBytesMax,
        signal,
        repeatable: true,
        onStart: (queryId) => {
          started = queryId;
        },
      });
    } catch (error) {
      // An unavailable server cannot take the KILL; it ends the query when it finds the connection closed.
      if (signal.aborted && started !== undefined && watch.isUp) await kill(started);
      throw error;
    }
  }

  return {
    async start(statement, options) {
      const stopping = new AbortController();
      const signal = AbortSignal.any([options.signal, stopping.signal]);
      const done = run(statement, { ...options, signal });
      running.set(stopping, done);
      return await done.finally(() => running.delete(stopping));
    },
    async stop(reason) {
      for (const stopping of running.keys()) stopping.abort(reason);
      await Promise.allSettled([...running.values()]);
    },
  };
}
