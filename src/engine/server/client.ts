import { randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ServerAddress } from '../../config/clickhouse.ts';
import { tooLarge } from '../failure.ts';
import type { EngineSettings } from '../read-settings.ts';
import { readException, refuseOthers } from './exception.ts';

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

/** A user's connections to one server. */
export interface ServerClient {
  /**
   * The whole answer: one that was cut off is an error, and so is one that the server ended with an error.
   *
   * @throws the server's own error, or that of the connection; the signal's reason
   */
  send(request: ServerRequest): Promise<Buffer>;
  /** @throws when nothing that speaks HTTP answers; the signal's reason */
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
  /** Whether what is sent is compressed, too: worth it for rows, not for statements. */
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
      for (const afterMs of RETRY_AFTER_MS) {
        try {
          return await attempt(client, request);
        } catch (error) {
          request.signal.throwIfAborted();
          if (!mayRepeat(error, request.repeatable)) throw error;
          await wait(afterMs, undefined, { signal: request.signal }).catch(() => {});
          request.signal.throwIfAborted();
        }
      }
      return await attempt(client, request);
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

async function attempt(client: ClickHouseClient, request: ServerRequest): Promise<Buffer> {
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
  return bytes;
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
    return {
      bytes: Buffer.concat(chunks),
      broken: error instanceof Error ? error : new Error(String(error)),
    };
  }
  if (length > bytesMax) throw tooLarge(bytesMax);
  const [only] = chunks;
  return { bytes: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks) };
}

// Never connected, so the request was not sent.
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
// Lost before the answer was complete: the request may have been executed.
const LOST: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'Z_BUF_ERROR',
  'ZSTD_error_srcSize_wrong',
]);

/** Whether there was no answer: not connected, or the connection was lost. */
function isLost(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return NEVER_SENT.has(code) || LOST.has(code);
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return NEVER_SENT.has(code) || (repeatable && (LOST.has(code) || isGateway(error)));
}

/** A proxy's status for a server that did not answer. */
function isGateway(error: unknown): boolean {
  const status = (error as { httpStatus?: unknown } | null)?.httpStatus;
  return status === 502 || status === 503 || status === 504;
}
