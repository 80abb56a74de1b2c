import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes hashed at once: more would block other requests for longer than a few milliseconds. */
export const HASHED_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the SHA-256 of many bytes. Other requests are served between its parts. */
export async function hashByParts(bytes: Buffer, encoding: 'base64url' | 'hex'): Promise<string> {
  const sha = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_BYTES_MAX) {
    sha.update(bytes.subarray(at, at + HASHED_BYTES_MAX));
    await nextTurn();
  }
  return sha.digest(encoding);
}

const SECRET_BYTES = 32;

/** Derives a secret for one purpose (HKDF, RFC 5869). It reveals neither the given secret nor that of another purpose. */
export function deriveSecret(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, SECRET_BYTES));
}

/**
 * Returns a function that maps names to keys in a store that others can read: equal names have equal keys, and a key
 * reveals nothing about its name. `prefix` starts every key, in clear.
 */
export function createNames(secret: Uint8Array, prefix: string): (name: string) => string {
  return (what) => prefix + createHmac('sha256', secret).update(what).digest('base64url');
}
