import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CODES, type ErrorCode, TailraceError } from '../../errors.ts';
import type { ProtocolReply } from '../../ingest/protocols/protocol.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Media types of a body that the route reads. */
    bodyTypes?: readonly string[];
    /** The form of the route's failures, if it is another than `errorBody`. */
    writeError?: WriteError | undefined;
  }
}

/** Writes a failure in the form of another protocol. */
export type WriteError = (failure: TailraceError) => ProtocolReply;

interface FastifyFailure {
  readonly code: ErrorCode;
  readonly message?: string | ((request: FastifyRequest) => string);
}

/** Fastify's failures: its code → ours, and our message if Fastify's says too little. */
const FASTIFY_FAILURES: Readonly<Record<string, FastifyFailure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body_too_large' },
  FST_ERR_BAD_URL: { code: 'invalid_request', message: 'the path is not a well-formed URL' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'unsupported_media_type', message: rejectType },
};

// The exit code of our own failures. A status of 500 and above may also be the request's fault, such as 504 `not_cached`.
const EXIT_OURS = 3;

/** Turns failures into responses; no other code does. The cause is logged, never sent. */
export function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  // The client disconnected, which aborted the work: nobody gets a response, and there is no failure to log.
  if (reply.raw.destroyed) return reply;
  const failure = noteFailure(error, request);
  reply.code(failure.status).headers(failure.headers);
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds);
  const own = request.routeOptions.config.writeError?.(failure);
  if (own !== undefined) return sendProtocolReply(reply, own);
  return reply.type('application/json; charset=utf-8').send(errorBody(failure, request.id));
}

/**
 * Logs our own failure, and notes it for the log line and the metrics of the request.
 * @returns the error that its caller may read
 */
export function noteFailure(error: FastifyError | Error, request: FastifyRequest): TailraceError {
  const failure = toFailure(error, request);
  if (ERROR_CODES[failure.code].exit === EXIT_OURS)
    request.log.error({ reqId: request.id, err: error, cause: failure.cause }, failure.message);
  request.rejection = failure;
  return failure;
}

/** The body of every failure (docs/errors.md). */
function errorBody(failure: TailraceError, requestId: string): string {
  const { code, message, status, errors } = failure;
  return JSON.stringify({ error: { code, message, status, request_id: requestId, errors } });
}

const TYPE_CHARS_MAX = 100;

/** Says which media types a route reads. */
export function rejectType({ headers, routeOptions }: FastifyRequest): string {
  const type = headers['content-type'];
  const read = routeOptions.config.bodyTypes ?? [];
  const right = `send ${read.join(' or ') || 'application/json'}`;
  if (type === undefined || type === '') return `the header Content-Type is missing; ${right}`;
  const shown = JSON.stringify(type.slice(0, TYPE_CHARS_MAX));
  return `the header Content-Type is ${shown}, which this path does not read; ${right}`;
}

function toFailure(error: FastifyError | Error, request: FastifyRequest): TailraceError {
  if (error instanceof TailraceError) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const { code: ours, message: own = error.message } = FASTIFY_FAILURES[code] ?? {};
  const message = typeof own === 'string' ? own : own(request);
  if (ours !== undefined) return new TailraceError(ours, message, { cause: error });
  // Only the message of a request's fault is sent; that of our own failure may contain anything.
  if (statusCode >= 400 && statusCode < 500)
    return new TailraceError('invalid_request', message, { cause: error });
  const hint = 'an internal error of Tailrace; its log has the cause under this request id';
  return new TailraceError('internal', hint, { cause: error });
}

/**
 * Responds to bytes that are not a request: unreadable, too long, or not sent in time.
 * @param headers of every response
 */
export function createClientErrorHandler(headerBytesMax: number, headers: Readonly<Record<string, string>>) {
  const fixed = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (error: ConnectionError, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || isHandshake(error, socket)) {
      socket.destroy();
      return;
    }
    const failure = toClientFailure(error, headerBytesMax);
    const { status } = failure;
    const requestId = randomUUID();
    const body = Buffer.from(errorBody(failure, requestId));
    const head = [
      `HTTP/1.1 ${status} ${status === 414 ? 'URI Too Long' : 'Bad Request'}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${body.length}`,
      `X-Request-Id: ${requestId}`,
      ...fixed,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}

/** Closes a socket before its handshake is done: no response can be sent, and a socket that waits for it would stay open. */
function isHandshake({ code = '' }: ConnectionError, socket: Socket): boolean {
  return socket instanceof TLSSocket && !/^(?:HPE|ERR_HTTP)_/.test(code);
}

function toClientFailure({ code }: ConnectionError, headerBytesMax: number): TailraceError {
  const long = `the URL and the headers together exceed ${headerBytesMax} bytes`;
  if (code === 'HPE_HEADER_OVERFLOW') return new TailraceError('uri_too_long', long);
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const message = isLate ? 'the request did not arrive in time' : 'this is not a well-formed HTTP request';
  return new TailraceError('invalid_request', message);
}

/** Sends a response of a protocol. */
export function sendProtocolReply(
  reply: FastifyReply,
  { status, headers = {}, type = 'application/json', body }: ProtocolReply,
): FastifyReply {
  reply.code(status).headers(headers);
  if (body === undefined) return reply.send();
  // As bytes: the framework would add `charset` to the type of a text, and quote the parameters that some clients compare.
  reply.header('content-type', type);
  const isWritten = typeof body === 'string' || body instanceof Uint8Array;
  return reply.send(Buffer.from(isWritten ? body : JSON.stringify(body)));
}
