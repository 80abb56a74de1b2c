import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url.ts';
import { TailraceError } from '../errors.ts';
import { type Caller, CHALLENGE, type Keyring } from '../keys/keyring.ts';
import { headerOf } from '../lib/network.ts';
import { findCookies, readCookie, SECURE_COOKIES } from './cookie.ts';
import type { createPeopleCallers, Proxied } from './role.ts';
import type { Sessions } from './sessions.ts';

/** What a browser sends by itself: a cookie, or what the proxy in between adds. */
export type Ambient =
  | {
      readonly kind: 'session';
      readonly secret: string;
      readonly url: string;
      /** What counts if the session has ended: browsers send its cookie for up to a day. */
      readonly instead: Ambient | undefined;
    }
  | ({ readonly kind: 'proxy' } & Proxied)
  /** The header of a proxy that is not one, or more than once. */
  | { readonly kind: 'forged' };

/** What identifies the sender of a request: a key or token, or what a browser sends by itself. */
export type Credential = string | undefined | Ambient;

/** Finds the caller by any of these. */
export interface Authenticator {
  /** Rejects as `Keyring.authenticate`. */
  authenticate(sent: Credential, address?: string): Caller | Promise<Caller>;
}

export interface AuthenticateParts {
  readonly keyring: Pick<Keyring, 'authenticate' | 'refused'>;
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly callers: Pick<ReturnType<typeof createPeopleCallers>, 'ofProxy'>;
}

export function createAuthenticator({ keyring, sessions, callers }: AuthenticateParts): Authenticator {
  const authenticate: Authenticator['authenticate'] = (sent, address = '') => {
    if (typeof sent !== 'object') return keyring.authenticate(sent, address);
    if (sent.kind === 'session') return ofSession(sent, address);
    try {
      if (sent.kind === 'proxy') return callers.ofProxy(sent);
      keyring.refused('', 'unknown', address);
      const message =
        'the header that names a user is accepted once, and only from a proxy of TAILRACE_TRUST_PROXY';
      throw new TailraceError('unauthorized', message, { headers: CHALLENGE, refusal: 'unknown' });
    } catch (error) {
      return Promise.reject(error);
    }
  };

  function ofSession({ secret, url, instead }: Ambient & { kind: 'session' }, address: string) {
    const found = sessions.authenticate(secret, url, address);
    if (instead?.kind !== 'proxy' || !(found instanceof Promise)) return found;
    return found.catch((error: unknown) => {
      if (error instanceof TailraceError && error.code === 'unauthorized')
        return authenticate(instead, address);
      throw error;
    });
  }
  return { authenticate };
}

type AmbientSettings = Pick<Config, 'publicUrl' | 'trustProxy' | 'trustedUserHeader'>;

/**
 * Reads what a browser sends by itself; a key beside it takes precedence, which the calling code sees to.
 *
 * @throws TailraceError as `headerOf`
 */
export type ReadAmbient = (request: IncomingMessage) => Ambient | undefined;

export function createReadAmbient(settings: AmbientSettings): ReadAmbient {
  const findSecret = createFindSecret(settings);
  const readProxy = createReadProxy(settings);
  return (request) => {
    const secret = request.headers.cookie === undefined ? undefined : findSecret(request);
    const proxied = readProxy?.(request);
    if (secret === undefined) return proxied;
    return { kind: 'session', secret, url: request.url ?? '', instead: proxied };
  };
}

/**
 * Finds the cookie of a session. That of plain HTTP counts only on this machine: a sibling of any other host could
 * have set it.
 */
function createFindSecret({ publicUrl }: AmbientSettings) {
  const isAlwaysSecure = publicUrl.startsWith('https:');
  const findPlainName = createFindPlainName();
  return ({ headers, socket }: IncomingMessage): string | undefined => {
    const secure = readCookie(headers, SECURE_COOKIES.session.name);
    if (secure !== undefined || isAlwaysSecure) return secure;
    const {
      host = '',
      forwarded,
      'x-forwarded-for': forwardedFor,
      'x-forwarded-host': forwardedHost,
    } = headers;
    if ((forwarded ?? forwardedFor ?? forwardedHost) !== undefined) return undefined;
    const name = isOwnAddress(socket.remoteAddress) ? findPlainName(host) : undefined;
    return name === undefined ? undefined : readCookie(headers, name);
  };
}

/**
 * Finds the cookie of plain HTTP by the header `Host`. Remembers the last one: reading it takes as long as the rest
 * of a session.
 */
function createFindPlainName() {
  let last: { readonly host: string; readonly name: string | undefined } = { host: '', name: undefined };
  return (host: string): string | undefined => {
    if (last.host === host) return last.name;
    const url = `http://${host}`;
    last = { host, name: URL.canParse(url) ? findCookies(new URL(url))?.session.name : undefined };
    return last.name;
  };
}

function isOwnAddress(address = ''): boolean {
  return address === '::1' || isLoopbackHost(address.replace(/^::ffff:/, ''));
}

/** Reads the headers by which a proxy names a user; `undefined` if none is configured. */
function createReadProxy({ trustProxy, trustedUserHeader }: AmbientSettings) {
  if (trustedUserHeader === '') return undefined;
  const [name = '', groupsName = ''] = trustedUserHeader.split(',');
  const isTrusted = proxyAddress.compile(trustProxy.split(','));
  return (request: IncomingMessage): Ambient | undefined => {
    const { headers, socket, url = '' } = request;
    const user = headers[name];
    if (user === undefined || user === '') return undefined;
    // A proxy that adds its header to that of a client would let the client name the user.
    const isRepeated = [name, groupsName].some((one) => count(request, one) > 1);
    if (isRepeated || !isTrusted(socket.remoteAddress ?? '', 0)) return { kind: 'forged' };
    const groups = headerOf(request, groupsName) ?? '';
    return { kind: 'proxy', user: headerOf(request, name) ?? '', groups, url };
  };
}

function count({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((one, at) => at % 2 === 0 && one.toLowerCase() === name).length;
}
