import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const KEY = /^tr_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/** Creates a key, `tr_<id>_<secret>`, of 256 random bits, which cannot be guessed, so that a plain hash is enough to store. */
export function createSecret() {
  const id = randomBytes(6).toString('hex');
  const key = `tr_${id}_${randomBytes(32).toString('base64url')}`;
  return { key, id, hash: hashKey(key) };
}

/** Returns the id within a key; `undefined` if the text does not have the form of a key. */
export function findKeyId(key: string): string | undefined {
  return KEY.exec(key)?.[1];
}

export function hashKey(key: string): Buffer {
  // Via a string: allocating a Buffer for a digest takes several times as long as the hashing.
  return Buffer.from(hash('sha256', key, 'binary'), 'binary');
}

/** Compares in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
