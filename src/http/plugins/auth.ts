import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { type Keyring, requireScope } from '../../keys/keyring.ts';
import { type Cookies, type Credential, findCookies, type ReadAmbient } from '../../people/credential.ts';
import { type Admission, type Admit, type Head, readKey } from '../../serve/admit.ts';
import { getCaller, type RawQuery, type Route } from '../route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    admissions: Admissions;
  }
}

/** Admits requests that send a key, each once. */
export interface Admissions {
  readonly admit: Admit;
  /** Admissions of requests that the listener has passed to the framework. */
  readonly handedOn: WeakMap<IncomingMessage, ReturnType<Admit>>;
  readonly readAmbient: ReadAmbient;
  /** `TAILRACE_PUBLIC_URL`; empty if it is not set. */
  readonly publicUrl: string;
}

/**
 * Admits the callers of a route before anything else of the request is read (spec 5). If the key is optional, a request
 * without one has no caller, and a wrong key is rejected; a session that has ended is none. A key takes precedence over
 * a session. With a session, only pages of this service may change anything: a browser sends cookies by itself, whatever
 * page it shows.
 */
export function createAuth(route: Pick<Route, 'scopes' | 'findKey'>): onRequestAsyncHookHandler[] {
  const { scopes } = route;
  if (scopes === 'none') return [];
  return [
    async (request, reply) => {
      const { admit, handedOn, publicUrl } = request.server.admissions;
      const sent = findSent(route, request);
      const isOptional = scopes === 'optional';
      if (isOptional && sent === undefined) return;
      const admission = await (handedOn.get(request.raw) ?? admit(sent, request.ip));
      if (isOptional && typeof sent === 'object' && admission.caller === undefined) return;
      request.sent = sent;
      noteAdmission(request, reply, admission);
      const caller = getCaller(request);
      if (caller.isAmbient && !SAFE_METHODS.includes(request.method)) findOwnPage(request, publicUrl);
      if (scopes !== 'any') requireScope(caller, ...(isOptional ? SCOPES : scopes));
    },
  ];
}

const SAFE_METHODS = ['GET', 'HEAD'];

/** Finds what identifies the caller: a key wherever the route accepts one, else what a browser sends by itself. */
function findSent({ findKey }: Pick<Route, 'findKey'>, request: FastifyRequest): Credential {
  const { headers, raw, server } = request;
  const query = request.query as object as RawQuery; // parsed into such an object
  return readKey(headers) ?? findKey?.({ headers, query }) ?? server.admissions.readAmbient(raw);
}

/** Notes the caller for the handlers. @throws TailraceError if the request is rejected */
function noteAdmission(
  request: FastifyRequest,
  reply: FastifyReply,
  { caller, head, error, isQuiet = false }: Admission,
): void {
  request.caller = caller && { ...caller, address: request.ip };
  request.quiet = isQuiet;
  addHead(reply, head);
  if (error !== undefined) throw error;
}

/** Counts requests of an accepted key that are rejected; the keyring itself counts the keys that it does not accept. */
export function countRejection(error: unknown, request: FastifyRequest, keyring: Keyring): void {
  const { caller, ip } = request;
  if (!(error instanceof TailraceError) || error.rejectReason === undefined || caller === undefined) return;
  keyring.countRejected(caller.keyId, error.rejectReason, ip);
}

/** Adds headers to those that the framework writes. */
export function addHead(reply: FastifyReply, head: Head): void {
  for (let at = 0; at < head.length; at += 2) reply.header(head[at] ?? '', head[at + 1]);
}

/** Neither a form nor a page of another origin can send it without the permission that CORS never gives. */
const CONSOLE_HEADER = 'x-tailrace-console';

/**
 * Returns the cookies of the page of this service that sends a request: a page of `TAILRACE_PUBLIC_URL`, or without
 * it of the header `Host`, which a browser writes itself; `X-Forwarded-Host` is what a client has sent, if a proxy
 * passes it on.
 * @throws TailraceError `forbidden` if another page may have sent it
 */
export function findOwnPage({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string): Cookies {
  if (headers[CONSOLE_HEADER] !== '1')
    throw rejectOrigin('needs the header X-Tailrace-Console: 1, which pages of other origins cannot send');
  const { 'sec-fetch-site': site, origin = '', host = '' } = headers;
  if (site !== undefined && site !== 'same-origin')
    throw rejectOrigin('must come from a page of this service');
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  if (page === undefined || page.origin !== origin)
    throw rejectOrigin('needs the Origin of a page of this service');
  const own = publicUrl || `${page.protocol}//${host}`;
  const cookies = URL.canParse(own) && new URL(own).origin === origin ? findCookies(page) : undefined;
  if (cookies !== undefined) return cookies;
  const where = publicUrl ? 'TAILRACE_PUBLIC_URL' : 'this service; behind a proxy set TAILRACE_PUBLIC_URL';
  throw rejectOrigin(`must come by HTTPS, or on this machine, from a page of ${where}`);
}

function rejectOrigin(message: string): TailraceError {
  return new TailraceError('forbidden', `a request with a session ${message}; programs send a key instead`);
}
