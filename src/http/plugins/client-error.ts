import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ConnectionError } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { errorBody } from './errors.ts';

interface Limits {
  readonly headerBytesMax: number;
  readonly requestTimeoutMs: number;
}

/** Responds to bytes that never became a request: unreadable, too long, or not sent in time. */
export function createClientErrorHandler(
  limits: Limits & { readonly headers: Readonly<Record<string, string>> },
) {
  const fixed = Object.entries(limits.headers).map(([name, value]) => `${name}: ${value}`);
  return (error: ConnectionError, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || isHandshake(error, socket)) {
      socket.destroy();
      return;
    }
    const failure = toFailure(error, limits);
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

/** Before the handshake is done no response can be sent, and a socket that waits for it would stay open. */
function isHandshake({ code = '' }: ConnectionError, socket: Socket): boolean {
  return socket instanceof TLSSocket && !/^(?:HPE|ERR_HTTP)_/.test(code);
}

function toFailure(error: ConnectionError, limits: Limits): TailraceError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new TailraceError(
      'uri_too_long',
      `the URL and the headers together exceed ${limits.headerBytesMax} bytes`,
    );
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new TailraceError(
      'invalid_request',
      `the request did not arrive within ${limits.requestTimeoutMs} ms`,
    );
  }
  return new TailraceError('invalid_request', 'this is not a well-formed HTTP request');
}
