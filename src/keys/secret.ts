import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new key: shown once, never stored. */
export interface NewSecret {
  /** `tr_<id>_<secret>` */
  readonly key: string;
  readonly id: string;
  readonly hash: Buffer;
}

const KEY = /^tr_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/** 256 random bits, so that a plain hash is enough: there is nothing to guess. */
export function createSecret(): NewSecret {
  const id = randomBytes(6).toString('hex');
  const key = `tr_${id}_${randomBytes(32).toString('base64url')}`;
  return { key, id, hash: hashKey(key) };
}

/** The id inside a key, by which its record is found; `undefined` where the text has not a key's form. */
export function findKeyId(key: string): string | undefined {
  return KEY.exec(key)?.[1];
}

export function hashKey(key: string): Buffer {
  // By way of a text: Node makes a Buffer of its own around a digest, which takes several times as long as the hashing.
  return Buffer.from(hash('sha256', key, 'binary'), 'binary');
}

/** Compares in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
