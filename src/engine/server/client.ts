import { randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ServerAddress } from '../../config/clickhouse.ts';
import { tooLarge } from '../failure.ts';
import type { EngineSettings } from '../read-settings.ts';
import { readException, readRowCount, refuseOthers } from './exception.ts';

/** One request to a ClickHouse server. */
export interface ServerRequest {
  readonly sql: string;
  /** Values that the server binds, by name. */
  readonly values?: Readonly<Record<string, string>>;
  readonly settings: EngineSettings;
  /** Sent after the statement: the rows of an insert. */
  readonly body?: Buffer;
  /** Longest answer; a longer one is an error, and is not read to its end. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Whether the request may be sent again if its outcome is unknown. */
  readonly repeatable: boolean;
  /** Called with the query id on the server, for each attempt. */
  readonly onStart?: (queryId: string) => void;
}

export interface ServerAnswer {
  readonly bytes: Buffer;
  /** Rows of the answer; not yet known to the server when it streams one: `wait_end_of_query` has to be set. */
  readonly rows: number | undefined;
}

/** A user's connections to one server. */
export interface ServerClient {
  /**
   * Returns the whole answer.
   *
   * @throws the server's error, even at the end of an answer; that of the connection, even within an answer; the signal's
   * reason
   */
  send(request: ServerRequest): Promise<ServerAnswer>;
  /** @throws when there is no HTTP response; the signal's reason */
  ping(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly address: ServerAddress;
  readonly user: string;
  readonly password: string;
  /** Connections open at once. */
  readonly connectionsMax: number;
  /** Longest silence of the server within a request, ms. */
  readonly silenceMs: number;
  /** Whether requests are compressed, too: worth it for rows, not for statements. */
  readonly compressRequests: boolean;
}

// Pauses before retries. Long enough for a connection that the server has just closed, or a restart behind a proxy; short enough
// that callers of an unavailable server fail at once.
const RETRY_AFTER_MS = [20, 200];

/** Keeps connections open between requests; answers come compressed. */
export function createServerClient(options: ClientOptions): ServerClient {
  const { address } = options;
  const client = createClient({
    url: address.url,
    database: address.database,
    username: options.user,
    password: options.password,
    application: 'tailrace',
    max_open_connections: options.connectionsMax,
    request_timeout: options.silenceMs,
    compression: {
      response: { codec: 'zstd' },
      ...(options.compressRequests && { request: { codec: 'zstd' } as const }),
    },
    ...(address.tls !== undefined && { tls: address.tls }),
    log: { level: ClickHouseLogLevel.OFF }, // it would log values of parameters
  });
  return {
    async send(request) {
      for (let attempts = 0; ; attempts++) {
        try {
          return await attempt(client, request);
        } catch (error) {
          request.signal.throwIfAborted();
          const afterMs = RETRY_AFTER_MS[attempts];
          if (afterMs === undefined || !mayRepeat(error, request.repeatable)) throw error;
          await wait(afterMs, undefined, { signal: request.signal }).catch(() => {});
        }
      }
    },
    async ping(signal) {
      const answer = await client.ping({ select: false, abort_signal: signal });
      signal.throwIfAborted();
      // Any response proves that the server can be reached, even a proxy's 404: each query reports its own error better.
      if (!answer.success && isLost(answer.error)) throw answer.error;
    },
    close: () => client.close(),
  };
}

async function attempt(client: ClickHouseClient, request: ServerRequest): Promise<ServerAnswer> {
  const { sql, values = {}, settings, body, bytesMax, signal } = request;
  signal.throwIfAborted();
  const queryId = randomUUID();
  request.onStart?.(queryId);
  const parameters = {
    query: sql,
    query_params: values,
    query_id: queryId,
    clickhouse_settings: settings,
    abort_signal: signal,
    // Read here: the client's own parser drops what distinguishes an error's code from a value in its text.
    ignore_error_response: true,
  };
  const { stream, response_headers, http_status_code } = await client.exec(
    body === undefined ? parameters : { ...parameters, values: Readable.from([body], { objectMode: false }) },
  );
  // The client listens to the signal until the answer begins; from then on the stream does.
  const { bytes, broken } = await collect(addAbortSignal(signal, stream), bytesMax).catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
  const head = { status: http_status_code, headers: response_headers };
  const exception = readException(bytes, head);
  if (exception !== undefined) throw exception;
  signal.throwIfAborted();
  if (broken !== undefined) throw broken;
  refuseOthers(head);
  return { bytes, rows: readRowCount(head) };
}

/** The received bytes, and the error that ended them early: the server's reason may be at their end. */
async function collect(stream: Readable, bytesMax: number): Promise<{ bytes: Buffer; broken?: Error }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytesMax) break; // ends the stream, and with it the query
    }
  } catch (error) {
    const broken = error instanceof Error ? error : new Error(String(error));
    return { bytes: Buffer.concat(chunks), broken };
  }
  if (length > bytesMax) throw tooLarge(bytesMax);
  const [first] = chunks;
  return { bytes: first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks) };
}

// Never connected, so the request was not sent.
const NEVER_SENT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
// Lost before the answer was complete: the request may have been executed.
const LOST =
  /^(?:ECONNRESET|EPIPE|ETIMEDOUT|ERR_STREAM_PREMATURE_CLOSE|Z_BUF_ERROR|ZSTD_error_srcSize_wrong)$/;
// A proxy's status for a server that did not answer.
const GATEWAY = /^50[234]$/;

type Failure = { readonly code?: unknown; readonly httpStatus?: unknown } | null;

/** Whether there was no response: not connected, or the connection was lost. */
function isLost(error: unknown): boolean {
  const code = String((error as Failure)?.code);
  return NEVER_SENT.test(code) || LOST.test(code);
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (repeatable && (isLost(error) || GATEWAY.test(String((error as Failure)?.httpStatus)))) return true;
  return NEVER_SENT.test(String((error as Failure)?.code));
}
