import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url.ts';
import { TailraceError } from '../errors.ts';
import { type Caller, type Keyring, orRejected, unauthorized } from '../keys/keyring.ts';
import { deriveSecret } from '../lib/hash.ts';
import { headerOf } from '../lib/network.ts';
import type { LoginSecrets } from './provider.ts';
import type { createPeopleCallers, Proxied } from './role.ts';
import type { Sessions } from './sessions.ts';

/** The names of an origin's cookies: of a session, and of a sign-in that has begun. */
export type Cookies = Readonly<Record<'session' | 'login', string>>;

/** Browsers accept it over HTTPS only, from the host itself and without a Domain: no sibling host can set such a cookie. */
const SECURE = '__Host-';
export const SECURE_COOKIES: Cookies = { session: `${SECURE}tailrace`, login: `${SECURE}tailrace-login` };

/** Returns the cookies of an origin; `undefined` for plain HTTP on another host than this machine, which gets none. */
export function findCookies(origin: URL): Cookies | undefined {
  if (origin.protocol === 'https:') return SECURE_COOKIES;
  if (origin.protocol !== 'http:' || !isLoopbackHost(origin.hostname)) return undefined;
  const session = plainName(origin.port);
  return { session, login: `${session}-login` };
}

/** Services on other ports of this machine share its cookies. */
const plainName = (port = '') => `tailrace-${port || 80}`;

/**
 * Returns the value of a cookie; `undefined` if it is missing, or repeated: then a browser has taken one from
 * somebody else.
 */
export function readCookie({ cookie: header }: IncomingHttpHeaders, name: string): string | undefined {
  const begin = `${name}=`;
  if (header === undefined || !header.includes(begin)) return undefined;
  if (!header.includes(';')) return header.startsWith(begin) ? header.slice(begin.length) : undefined;
  const [found, ...others] = header
    .split(';')
    // Not `trim`, which also removes white space that is part of a name (RFC 6265): a sibling host may set such a cookie.
    .map((part) => part.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
    .filter((part) => part.startsWith(begin));
  return others.length === 0 ? found?.slice(begin.length) : undefined;
}

/** Writes a `Set-Cookie`. @param value base64url, dots and underscores; empty: deletes the cookie */
export function writeCookie(name: string, value: string, seconds: number): string {
  const secure = name.startsWith(SECURE) ? '; Secure' : '';
  const age = value === '' ? 0 : seconds;
  return `${name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`;
}

const PATH_CHARS_MAX = 2_000;
const BASE = 'https://tailrace.invalid';

/**
 * Returns a path of this service to which a browser may be sent; `undefined` for everything else: another origin in
 * any spelling, a control character, and the paths of the sign-in itself.
 */
export function findLocalPath(text: string): string | undefined {
  // Browsers read a backslash as a slash, and drop tabs and line breaks.
  if (text.length > PATH_CHARS_MAX || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text)) return undefined;
  if (!URL.canParse(text, BASE)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, BASE);
  // `/.//example.com` has become `//example.com`, which is another host.
  if (origin !== BASE || pathname.startsWith('//') || /^\/auth(?:\/|$)/.test(pathname)) return undefined;
  return `${pathname}${search}${hash}`;
}

/** A sign-in that has begun; the browser returns to the path `to`. */
export type Login = LoginSecrets & { readonly to: string };

/** How long a person may take at the provider. */
export const LOGIN_SECONDS = 600;

const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * Seals a sign-in for the browser that has begun it, so that requests without a session store nothing, and any
 * replica can finish it. `secret`: that of tokens.
 */
export function createLoginSeal(secret: Uint8Array, now: () => number) {
  const key = deriveSecret(secret, 'tailrace sign-in');
  return {
    async seal(login: Login): Promise<string> {
      const { EncryptJWT } = await import('jose'); // loaded only if it is used
      return await new EncryptJWT({ login })
        .setProtectedHeader(ALGORITHMS)
        .setExpirationTime(Math.floor(now() / 1000) + LOGIN_SECONDS)
        .encrypt(key);
    },
    /** @returns `undefined` if it is not sealed by this service, or has expired */
    async open(text: string): Promise<Login | undefined> {
      const { jwtDecrypt } = await import('jose');
      try {
        const { payload } = await jwtDecrypt(text, key, {
          keyManagementAlgorithms: [ALGORITHMS.alg],
          contentEncryptionAlgorithms: [ALGORITHMS.enc],
          currentDate: new Date(now()),
          requiredClaims: ['exp', 'login'],
        });
        return payload['login'] as Login; // only `seal` writes it
      } catch {
        return undefined;
      }
    },
  };
}

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

/** Finds the caller by any of these. Rejects as `Keyring.authenticate`. */
export type Authenticate = (sent: Credential, address?: string) => Caller | Promise<Caller>;

const FORGED = 'the header that names a user is accepted once, and only from a proxy of TAILRACE_TRUST_PROXY';

interface AuthenticateParts {
  readonly keyring: Pick<Keyring, 'authenticate' | 'countRejected'>;
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly callers: Pick<ReturnType<typeof createPeopleCallers>, 'ofProxy'>;
}

export function createAuthenticate({ keyring, sessions, callers }: AuthenticateParts): Authenticate {
  const authenticate: Authenticate = (sent, address = '') => {
    if (typeof sent !== 'object') return keyring.authenticate(sent, address);
    if (sent.kind === 'session') return ofSession(sent, address);
    return orRejected(() => {
      if (sent.kind === 'proxy') return callers.ofProxy(sent);
      keyring.countRejected('', 'unknown', address);
      throw unauthorized(FORGED, 'unknown');
    });
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
  return authenticate;
}

type AmbientSettings = Pick<Config, 'publicUrl' | 'trustProxy' | 'trustedUserHeader'>;

/** Reads what a browser sends by itself; the calling code prefers a key beside it. @throws TailraceError as `headerOf` */
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

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host'];

/** Finds the cookie of a session. That of plain HTTP counts only on this machine: a sibling host could have set it. */
function createFindSecret({ publicUrl }: AmbientSettings) {
  const isAlwaysSecure = publicUrl.startsWith('https:');
  return ({ headers, socket }: IncomingMessage): string | undefined => {
    const secure = readCookie(headers, SECURE_COOKIES.session);
    if (secure !== undefined || isAlwaysSecure) return secure;
    if (FORWARDED.some((name) => headers[name] !== undefined)) return undefined;
    const [, hostname = '', port] = /^(.+?)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
    const isLocal = isLoopbackHost(hostname) && isOwnAddress(socket.remoteAddress);
    return isLocal ? readCookie(headers, plainName(port)) : undefined;
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
