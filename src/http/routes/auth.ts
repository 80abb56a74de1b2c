import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { TailraceError } from '../../errors.ts';
import { textOrNull } from '../../lib/schema.ts';
import { describeMe, endSession, listSessions } from '../../management/sessions.ts';
import { ME, SESSION, SIGN_IN } from '../../management/view.ts';
import {
  type Cookies,
  findCookies,
  findLocalPath,
  LOGIN_SECONDS,
  type ReadAmbient,
  readCookie,
  writeCookie,
} from '../../people/credential.ts';
import { SESSION_MS_MAX } from '../../people/sessions.ts';
import type { Client } from '../../people/sign-in.ts';
import { rejectParameter } from '../../query/parameters.ts';
import type { AppParts } from '../parts.ts';
import { findOwnPage } from '../plugins/auth.ts';
import { defineGroup, defineRoute, getCaller, json, operation, rows } from '../route.ts';

const LOGIN_QUERY = Type.Object({
  to: Type.String({
    default: '/',
    description: 'Path to return to, such as `/explore?q=timeout`.',
    expected: 'a path',
  }),
});

const SIGNED_OUT = Type.Object({ to: textOrNull('Page of the provider that signs out there, too.') });

/** Signs people and keys in to the console, and out of it: src/people/sign-in.ts. */
export const authRoutes = defineGroup({
  tag: 'console',
  bodyBytesMax: 1_024, // no body is read
  routes: [
    defineRoute('GET /auth/options', 'none', {
      summary: 'How one can sign in to the console',
      answer: { 200: json('The present state.', SIGN_IN) },
      handle: async ({ config, readAmbient }, { raw }) => ({
        provider: config.oidcIssuer !== '',
        keys: config.consoleKeys === '1',
        session: readAmbient(raw) !== undefined,
      }),
    }),
    defineRoute('GET /auth/login', 'none', {
      summary: '[Sign in](people.md) with the account of the company',
      query: LOGIN_QUERY,
      handle: beginSignIn,
    }),
    defineRoute('GET /auth/callback', 'none', {
      summary: 'Where the provider sends browsers back to',
      handle: finishSignIn,
    }),
    operation('sign_in_with_key', 'POST /auth/key', 'any', {
      summary: 'Open a session for a key',
      answer: { 200: json('The session is in a cookie.', ME) },
      handle: signInWithKey,
    }),
    operation('sign_out', 'POST /auth/logout', 'any', {
      summary: 'End the session of the request',
      answer: { 200: json('The session has ended.', SIGNED_OUT) },
      handle: signOut,
    }),
  ],
});

async function beginSignIn(
  { signIn, config }: AppParts,
  request: FastifyRequest<{ Querystring: Static<typeof LOGIN_QUERY> }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = findLocalPath(request.query.to);
  const message = 'must be a path of this service, such as /explore';
  if (path === undefined) throw rejectParameter('to', message);
  const begun = await signIn.begin(path, request.ip);
  if (typeof begun === 'string') return reply.redirect(pageOf(begun), 303);
  reply.header('set-cookie', writeCookie(cookiesOf(config).login, begun.sealed, LOGIN_SECONDS));
  return reply.redirect(begun.url, 303);
}

async function finishSignIn(
  { signIn, config, readAmbient }: AppParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { login, session } = cookiesOf(config);
  const { url, headers } = request;
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const finished = await signIn.finish(search, readCookie(headers, login), clientOf(request, readAmbient));
  reply.header('set-cookie', writeCookie(login, '', 0));
  if (typeof finished === 'string') return reply.redirect(pageOf(finished), 303);
  reply.header('set-cookie', writeCookie(session, finished.secret, SESSION_MS_MAX / 1000));
  return reply.redirect(finished.to, 303);
}

async function signInWithKey(
  { signIn, config, readAmbient, version }: AppParts,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const caller = getCaller(request);
  const cookies = findOwnPage(request, config.publicUrl);
  if (caller.isAmbient || caller.token !== undefined)
    throw new TailraceError('forbidden', 'only a key opens a session here; send it as X-API-KEY');
  if (config.consoleKeys !== '1')
    throw new TailraceError('forbidden', 'keys cannot sign in to this console: TAILRACE_CONSOLE_KEYS is 0');
  const secret = await signIn.openForKey(caller, clientOf(request, readAmbient));
  reply.header('set-cookie', writeCookie(cookies.session, secret, SESSION_MS_MAX / 1000));
  return describeMe(caller, version);
}

async function signOut({ signIn, config }: AppParts, request: FastifyRequest, reply: FastifyReply) {
  const caller = getCaller(request);
  const { sent } = request;
  if (typeof sent !== 'object' || sent.kind !== 'session') return { to: null };
  const cookies = findOwnPage(request, config.publicUrl);
  const to = await signIn.signOut(sent.secret, caller, `${config.publicUrl}/`);
  reply.header('set-cookie', writeCookie(cookies.session, '', 0));
  return { to: to ?? null };
}

/** Describes the browser, and the session that it has: a sign-in ends it. */
function clientOf(request: FastifyRequest, readAmbient: ReadAmbient): Client {
  const ambient = readAmbient(request.raw);
  return {
    address: request.ip,
    agent: request.headers['user-agent'] ?? '',
    replaces: ambient?.kind === 'session' ? ambient.secret : undefined,
  };
}

/** The cookies of the origin to which the provider sends browsers back. */
function cookiesOf({ publicUrl }: AppParts['config']): Cookies {
  const cookies = URL.canParse(publicUrl) ? findCookies(new URL(publicUrl)) : undefined;
  if (cookies !== undefined) return cookies;
  throw new TailraceError('not_found', 'signing in is disabled: TAILRACE_OIDC_ISSUER is not set');
}

/** A page of the console that says what has gone wrong. */
const pageOf = (fault: string) => `/?sign_in=${fault}`;

const SESSIONS_QUERY = Type.Object({
  of: Type.Enum(['me', 'all'], {
    type: 'string',
    default: 'me',
    description: '`all`: those of everyone, for callers with the scope `manage` and no other limits.',
    expected: 'me or all',
  }),
});

/** The sender of a request, and sessions of the console: src/management/sessions.ts. */
export const sessionRoutes = defineGroup({
  tag: 'console',
  routes: [
    operation('get_me', 'GET /api/me', 'any', {
      summary: 'The person or key of the request, with its rights',
      answer: { 200: json('The present state.', ME) },
      call: ({ version }, caller) => describeMe(caller, version),
    }),
    operation('list_sessions', 'GET /api/sessions', 'any', {
      summary: 'The newest 1,000 sessions of the console, newest first',
      query: SESSIONS_QUERY,
      answer: { 200: rows('Sessions.', SESSION) },
      call: listSessions,
    }),
    operation('end_session', 'DELETE /api/sessions/:id', 'any', {
      summary: 'End a session',
      answer: { 204: { description: 'Ended.' } },
      call: endSession,
    }),
  ],
});
