import { hash } from 'node:crypto';
import type { Claims } from '../keys/session-store.ts';
import { isObject } from '../lib/json.ts';

/** A person whom the provider or a proxy vouches for. */
export interface Identity {
  /** The `keyId` of the person's caller: from the issuer and its subject, so that nobody else ever gets it. */
  readonly id: string;
  /** Printable, at most 200 characters; others may have the same. */
  readonly name: string;
  readonly claims: Claims;
}

const NAME_CHARS_MAX = 200;
const CLAIMS_CHARS_MAX = 32 * 1024;
// Of the protocol, and different with each sign-in.
const PROTOCOL = new Set(
  'iss aud azp exp iat nbf jti nonce at_hash c_hash s_hash sid auth_time acr amr'.split(' '),
);

/** @returns `undefined` if the claims are too long to be kept */
export function createIdentity(issuer: string, subject: string, all: Claims): Identity | undefined {
  const claims = Object.fromEntries(Object.entries(all).filter(([name]) => !PROTOCOL.has(name)));
  if (JSON.stringify(claims).length > CLAIMS_CHARS_MAX) return undefined;
  // A NUL separates the two: neither can contain one.
  const id = `person:${hash('sha256', `${issuer}\0${subject}`).slice(0, 24)}`;
  const names = [claims['email'], claims['preferred_username'], claims['name'], subject];
  return { id, name: names.map(toPrintable).find((name) => name !== '') ?? id, claims };
}

/** Creates the identity of a person whom a proxy names in a header. */
export function createProxyIdentity(user: string, groups: readonly string[]): Identity | undefined {
  const claims = { sub: user, preferred_username: user, groups };
  const isAddress = user.includes('@');
  return createIdentity('proxy', user, {
    ...claims,
    ...(isAddress && { email: user, email_verified: true }),
  });
}

/** Removes characters that would change how a log or a list is read: controls, and marks of the direction of writing. */
function toPrintable(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = value.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return [...text.trim()].slice(0, NAME_CHARS_MAX).join('');
}

/** Finds a claim by its name, else by a path with dots, such as `realm_access.roles`. */
export function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Returns the texts of a claim that is a text or a list; all else is left out. */
export function textsOf(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}

/** Returns the address of a person, in lower case, if the provider has verified it: anyone can claim another one. */
export function findAddress({ email, email_verified: isVerified }: Claims): string | undefined {
  return typeof email === 'string' && isVerified === true ? toLowerAscii(email) : undefined;
}

/** Lower case of A to Z only: that of the Kelvin sign is `k`, which makes it the address of somebody else. */
export function toLowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
