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
  /** What comes after the statement: the rows of an insert. */
  readonly body?: Buffer;
  /** Longest answer; a longer one is an error, and is not read to its end. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Whether it does no harm to send it once more when nobody knows what came of it. */
  readonly repeatable: boolean;
  /** Told the id under which the server runs it, for each attempt. */
  readonly onStart?: (queryId: string) => void;
}

/** A user's connections to one server. */
export interface ServerClient {
  /**
   * The answer, whole: an answer that was cut off is an error, as is one that the server broke off with an error of its own.
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

// Before each further attempt. Long enough for a connection that the server has just closed, or a server behind a proxy that has
// just left; short enough that a caller of a server which is away is told so at once.
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
    log: { level: ClickHouseLogLevel.OFF }, // it would write the values of parameters
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
      // Any answer is a sign of life, also that of a proxy without this path: what is wrong with it, each query tells better.
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
    // Read here, since the client's own reading of an error's text leaves out what tells its code from a value in it.
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

/** What came, and the error that ended it early: the server's reason may stand at the end of what came. */
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

// The connection was never there, so neither was the request.
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
// It was lost before the answer was whole: the request may have been carried out.
const LOST: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'Z_BUF_ERROR',
  'ZSTD_error_srcSize_wrong',
]);

/** Whether no answer came: the connection was never there, or was lost. */
function isLost(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return NEVER_SENT.has(code) || LOST.has(code);
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return NEVER_SENT.has(code) || (repeatable && (LOST.has(code) || isGateway(error)));
}

/** A proxy's word for a server that did not answer it. */
function isGateway(error: unknown): boolean {
  const status = (error as { httpStatus?: unknown } | null)?.httpStatus;
  return status === 502 || status === 503 || status === 504;
}
