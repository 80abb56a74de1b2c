import type { IncomingHttpHeaders } from 'node:http';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { isLoopbackHost } from '../config/url.ts';
import { deriveSecret } from '../lib/hash.ts';
import type { LoginSecrets } from './provider.ts';

/** A cookie of this service, and whether browsers send it over HTTPS only. */
export interface Cookie {
  readonly name: string;
  readonly isSecure: boolean;
}

/** The cookies of an origin: of a session, and of a sign-in that has begun. */
export interface Cookies {
  readonly session: Cookie;
  readonly login: Cookie;
}

/** Over HTTPS. Browsers accept `__Host-` only from the host itself and without a Domain: no sibling host can set it. */
export const SECURE_COOKIES: Cookies = {
  session: { name: '__Host-tailrace', isSecure: true },
  login: { name: '__Host-tailrace-login', isSecure: true },
};

/** Returns the cookies of an origin; `undefined` for plain HTTP on another host than this machine, which gets none. */
export function findCookies(origin: URL): Cookies | undefined {
  if (origin.protocol === 'https:') return SECURE_COOKIES;
  if (origin.protocol !== 'http:' || !isLoopbackHost(origin.hostname)) return undefined;
  // Services on other ports of this machine share its cookies.
  const name = `tailrace-${origin.port || 80}`;
  return { session: { name, isSecure: false }, login: { name: `${name}-login`, isSecure: false } };
}

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
export function writeCookie({ name, isSecure }: Cookie, value: string, seconds: number): string {
  const parts = [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${value === '' ? 0 : seconds}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

const PATH_CHARS_MAX = 2_000;
const BASE = 'https://tailrace.invalid';

/**
 * Returns a path of this service to which a browser may be sent; `undefined` for everything else: another origin in
 * any spelling, a control character, and the paths of the sign-in itself.
 */
export function findLocalPath(text: string): string | undefined {
  // Browsers read a backslash as a slash, and drop tabs and line breaks.
  if (text.length > PATH_CHARS_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return undefined;
  if (!URL.canParse(text, BASE)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, BASE);
  // `/.//example.com` has become `//example.com`, which is another host.
  if (origin !== BASE || pathname.startsWith('//') || /^\/auth(?:\/|$)/.test(pathname)) return undefined;
  return `${pathname}${search}${hash}`;
}

/** A sign-in that has begun. */
export interface Login extends LoginSecrets {
  /** The path to which the browser returns. */
  readonly to: string;
}

/** How long a person may take at the provider. */
export const LOGIN_SECONDS = 600;

const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * Seals a sign-in for the browser that has begun it, so that requests without a session store nothing, and any
 * replica can finish it.
 *
 * @param secret that of tokens
 */
export function createLoginSeal(secret: Uint8Array, now: () => number) {
  const key = deriveSecret(secret, 'tailrace sign-in');
  return {
    async seal({ state, nonce, verifier, to }: Login): Promise<string> {
      return await new EncryptJWT({ state, nonce, verifier, to })
        .setProtectedHeader(ALGORITHMS)
        .setExpirationTime(Math.floor(now() / 1000) + LOGIN_SECONDS)
        .encrypt(key);
    },
    /** @returns `undefined` if it is not sealed by this service, or has expired */
    async open(text: string): Promise<Login | undefined> {
      try {
        const { payload } = await jwtDecrypt(text, key, {
          keyManagementAlgorithms: [ALGORITHMS.alg],
          contentEncryptionAlgorithms: [ALGORITHMS.enc],
          currentDate: new Date(now()),
          requiredClaims: ['exp', 'state', 'nonce', 'verifier', 'to'],
        });
        const { state, nonce, verifier, to } = payload;
        return { state: String(state), nonce: String(nonce), verifier: String(verifier), to: String(to) };
      } catch {
        return undefined;
      }
    },
  };
}
