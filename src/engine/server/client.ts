import { randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ServerAddress } from '../../config/clickhouse.ts';
import { tooLarge } from '../failure.ts';
import type { EngineSettings } from '../read-settings.ts';

/** One request to a ClickHouse server. */
export interface ServerRequest {
  readonly sql: string;
  /** Values that the server binds, by name. */
  readonly values?: Readonly<Record<string, string>>;
  readonly settings: EngineSettings;
  /** Sent after the statement: the rows of an insert. */
  readonly body?: Buffer;
  /** Longest answer; a longer one is an error, and is not read to its end. Default: 64 MiB. */
  readonly bytesMax?: number;
  readonly signal: AbortSignal;
  /** Whether the request may be sent again if its outcome is unknown. Default: true. */
  readonly repeatable?: boolean;
  /** Called with the query id on the server, for each attempt. */
  readonly onStart?: (queryId: string) => void;
}

export interface ServerAnswer {
  readonly bytes: Buffer;
  /** Rows of the answer; not yet known to the server when it streams one: `wait_end_of_query` has to be set. */
  readonly rows: number | undefined;
}

/** A user's connections to one server. */
export type ServerClient = ReturnType<typeof createServerClient>;

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

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
// Pauses before retries. Long enough for a connection that the server has just closed, or a restart behind a proxy;
// short enough that callers of an unavailable server fail at once.
const RETRY_AFTER_MS = [20, 200];

/** Keeps connections open between requests; answers come compressed. */
export function createServerClient(options: ClientOptions) {
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
    /**
     * Returns the whole answer.
     *
     * @throws the server's error, even at the end of an answer; that of the connection, even within an answer; the
     * signal's reason
     */
    async send(request: ServerRequest): Promise<ServerAnswer> {
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
    /** @throws when there is no HTTP response; the signal's reason */
    async ping(signal: AbortSignal): Promise<void> {
      const answer = await client.ping({ select: false, abort_signal: signal });
      signal.throwIfAborted();
      // Any response proves that the server can be reached, even a proxy's 404: each query reports its own error better.
      if (!answer.success && isLost(answer.error)) throw answer.error;
    },
    close: () => client.close(),
  };
}

async function attempt(client: ClickHouseClient, request: ServerRequest): Promise<ServerAnswer> {
  const { sql, values = {}, settings, body, bytesMax = ANSWER_BYTES_MAX, signal } = request;
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
  rejectOthers(head);
  return { bytes, rows: readRowCount(head) };
}

/** The received bytes, and the error that ended them early: the server's reason may be at their end. */
async function collect(stream: Readable, bytesMax: number): Promise<{ bytes: Buffer; broken?: unknown }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytesMax) break; // ends the stream, and with it the query
    }
  } catch (broken) {
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

function mayRepeat(error: unknown, repeatable = true): boolean {
  if (!repeatable) return NEVER_SENT.test(String((error as Failure)?.code));
  return isLost(error) || GATEWAY.test(String((error as Failure)?.httpStatus));
}

/** Status and headers of an answer. */
interface ResponseHead {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A failure reported by a server or by a proxy in front of it. Its message is the server's text, values included. */
export class ServerException extends Error {
  override readonly name = 'ServerException';
  /** ClickHouse's code; `undefined` if the response came from something else. */
  readonly clickhouseCode: number | undefined;
  readonly httpStatus: number | undefined;

  constructor(text: string, clickhouseCode: number | undefined, httpStatus: number | undefined) {
    super(text);
    this.clickhouseCode = clickhouseCode;
    this.httpStatus = httpStatus;
  }
}

const TEXT_CHARS_MAX = 10_000;

/**
 * Throws the error in an answer: instead of the rows, with a status and a header, or after rows that were already sent,
 * behind a random marker that the server announced in a header (since 25.11) and no row can contain.
 */
function readException(bytes: Buffer, { status, headers }: ResponseHead): ServerException | undefined {
  const header = headers['x-clickhouse-exception-code'];
  const code = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
  const tag = headers['x-clickhouse-exception-tag'];
  const late = typeof tag === 'string' && tag !== '' ? findLate(bytes, tag) : undefined;
  if (late !== undefined) return new ServerException(late, codeInText(late), status);
  if (status === 200 && code === undefined) return undefined;
  const text = bytes.toString('utf8', 0, TEXT_CHARS_MAX).trim();
  return new ServerException(text || `HTTP ${status}`, code ?? codeInText(text), status);
}

/**
 * Rejects a response without ClickHouse's headers; it sends at least `x-clickhouse-query-id`. A proxy's maintenance
 * page with status 200 would otherwise look like rows, or like a stored insert.
 *
 * @throws ServerException
 */
function rejectOthers({ status, headers }: ResponseHead): void {
  if (Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))) return;
  const text = 'the response is not from ClickHouse, or a proxy removes its headers x-clickhouse-…';
  throw new ServerException(text, undefined, status);
}

/** `result_rows` of the server's summary; final only if the server has sent nothing before. */
function readRowCount({ headers }: ResponseHead): number | undefined {
  const rows = /"result_rows":"(\d+)"/.exec(String(headers['x-clickhouse-summary']))?.[1];
  return rows === undefined ? undefined : Number(rows);
}

function codeInText(text: string): number | undefined {
  const code = /^Code: (\d+)\. /.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

const MARK = '__exception__';

/** Returns the text between the two marks at the end; the second is missing if the connection was cut. */
function findLate(bytes: Buffer, tag: string): string | undefined {
  const head = `${MARK}\r\n${tag}`;
  const start = bytes.lastIndexOf(head);
  if (start === -1) return undefined;
  const rest = bytes.toString('utf8', start + head.length);
  const end = rest.lastIndexOf(tag);
  const text = end === -1 ? rest : rest.slice(0, end).replace(/\d+\s*$/, '');
  return text.trim() || 'the answer was broken off';
}
