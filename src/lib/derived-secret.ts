import { createHmac, hkdfSync } from 'node:crypto';

const SECRET_BYTES = 32;

/** Derives a secret for one purpose (HKDF, RFC 5869). It reveals neither the given secret nor that of another purpose. */
export function deriveSecret(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, SECRET_BYTES));
}

/**
 * Maps a name to a key in a store that others can read: equal names have equal keys, and a key reveals nothing about
 * its name.
 */
export type NameOf = (what: string) => string;

/** @param prefix starts every key, in clear */
export function createNames(secret: Uint8Array, prefix: string): NameOf {
  return (what) => prefix + createHmac('sha256', secret).update(what).digest('base64url');
}
