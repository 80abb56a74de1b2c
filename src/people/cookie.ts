import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../config/url.ts';

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

/** Returns the value of a cookie; `undefined` if it is missing, or repeated: then a browser has taken one from somebody else. */
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
