import { quote } from '../sql/quote.ts';
import type { QueryLimits, RowFormat } from './engine.ts';
import { readSettings } from './read-settings.ts';
import type { ServerClient } from './server-client.ts';
import type { ServerWatch } from './server-watch.ts';
import type { BoundStatement } from './values.ts';

export interface ReadOptions {
  readonly format: RowFormat;
  /** As `additional_table_filters` has it. */
  readonly filters: string;
  /** For the server's log of queries. */
  readonly origin: string | undefined;
  readonly signal: AbortSignal;
}

/** Runs callers' queries so that each ends on the server when nobody waits for it any more. */
export interface ServerReads {
  /** Settles when the server is done with the query, as far as it can be asked. */
  start(statement: BoundStatement, options: ReadOptions): Promise<Buffer>;
  /** Stops everything, with this reason, and resolves when nothing runs any more. */
  stop(reason: Error): Promise<void>;
}

// A server that does not even take the order to stop a query by then runs none for us.
const KILL_MS_MAX = 5_000;
const KILL_ANSWER_BYTES_MAX = 1024 * 1024;

export function createServerReads(
  client: ServerClient,
  limits: QueryLimits,
  watch: Pick<ServerWatch, 'isUp'>,
): ServerReads {
  const shared = {
    ...readSettings(limits),
    cancel_http_readonly_queries_on_client_close: 1, // the first way in which it ends; the order to kill it is the second
    http_write_exception_in_output_format: 0, // an error comes behind the mark that server-exception.ts looks for
    readonly: 1,
  };
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

  async function run(
    statement: BoundStatement,
    { format, filters, origin, signal }: ReadOptions,
  ): Promise<Buffer> {
    let started: string | undefined;
    try {
      return await client.send({
        ...statement,
        settings: {
          ...shared,
          default_format: format,
          additional_table_filters: filters,
          ...(origin !== undefined && { log_comment: origin }),
        },
        bytesMax: limits.resultBytesMax,
        signal,
        repeatable: true,
        onStart: (queryId) => {
          started = queryId;
        },
      });
    } catch (error) {
      // A server that is away would not take the order; it ends the query when it finds the connection closed.
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
