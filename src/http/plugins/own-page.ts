import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isConfidential } from '../../config/url.ts';
import { TailraceError } from '../../errors.ts';

/** What the origin of this service is found by. */
export interface OwnOrigin {
  /** Empty if it is not set. */
  readonly publicUrl: string;
  readonly hostOf: (request: IncomingMessage) => string;
}

/** Neither a form nor a page of another origin can send it without the permission that CORS never gives. */
const CONSOLE_HEADER = 'x-tailrace-console';
const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Checks that a request which may change something comes from a page of this service: a browser sends cookies by itself, whatever page it
 * shows.
 *
 * @throws TailraceError `forbidden`
 */
export function requireOwnPage(request: FastifyRequest, own: OwnOrigin): void {
  if (!SAFE_METHODS.includes(request.method)) findOwnPage(request, own);
}

/** Returns the origin of the page of this service that sends a request. @throws TailraceError `forbidden` if another page may have sent it */
export function findOwnPage({ headers, raw }: FastifyRequest, own: OwnOrigin): URL {
  if (headers[CONSOLE_HEADER] !== '1')
    throw refuse('needs the header X-Tailrace-Console: 1, which pages of other origins cannot send');
  const { 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') throw refuse('must come from a page of this service');
  return findOwnOrigin(raw, own);
}

/**
 * Returns the origin of the page that sends a request, which is one of this service: that of `TAILRACE_PUBLIC_URL`, or of the host of the
 * request, over HTTPS or on this machine.
 *
 * @throws TailraceError `forbidden`
 */
function findOwnOrigin(request: IncomingMessage, { publicUrl, hostOf }: OwnOrigin): URL {
  const { origin = '' } = request.headers;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.origin !== origin) throw refuse('needs the Origin of a page of this service');
  if (URL.canParse(publicUrl) && new URL(publicUrl).origin === origin) return url;
  const host = `${url.protocol}//${hostOf(request)}`;
  const isOwn = URL.canParse(host) && new URL(host).origin === origin;
  if (isOwn && isConfidential(url)) return url;
  throw refuse('must come from a page of this service; behind a proxy set TAILRACE_PUBLIC_URL');
}

function refuse(message: string): TailraceError {
  return new TailraceError('forbidden', `a request with a session ${message}`);
}
