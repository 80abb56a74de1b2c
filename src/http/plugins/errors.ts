import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CODES, type ErrorCode, TailraceError } from '../../errors.ts';

/** Fastify's own failures, by its code; anything not listed with a status below 500 is a malformed request. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

// Of the table of codes: our failure. A status of 500 and above may also be what a caller asked for, as 504 `not_cached`.
const EXIT_OURS = 3;

/** The one place that turns a failure into a response. The cause is logged, never sent. */
export function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error);
  // The caller hung up, which is what stopped the work: nobody is there to be told, and nothing of ours went wrong.
  if (reply.raw.destroyed) return reply;
  if (ERROR_CODES[failure.code].exit === EXIT_OURS)
    request.log.error({ reqId: request.id, err: error, cause: failure.cause }, failure.message);
  reply.code(failure.status).headers(failure.headers);
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds);
  request.failure = failure.code;
  return reply.type('application/json; charset=utf-8').send(errorBody(failure, request.id));
}

/** The error body of design: the same shape for every failure. */
export function errorBody(failure: TailraceError, requestId: string): string {
  const { code, message, status, errors } = failure;
  return JSON.stringify({ error: { code, message, status, request_id: requestId, errors } });
}

function toFailure(error: FastifyError | Error): TailraceError {
  if (error instanceof TailraceError) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_BAD_URL') {
    return new TailraceError('invalid_request', 'the path is not a well-formed URL', { cause: error });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const message = 'this path does not read a body of this Content-Type; most read application/json';
    return new TailraceError('unsupported_media_type', message, { cause: error });
  }
  const ours =
    FASTIFY_CODES[code] ?? (statusCode >= 400 && statusCode < 500 ? 'invalid_request' : 'internal');
  // Only a fault of the request may be told in the library's words; ours might hold anything.
  const message =
    ours === 'internal' ? 'something went wrong here; the log has it under this request id' : error.message;
  return new TailraceError(ours, message, { cause: error });
}
