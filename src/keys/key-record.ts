import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Grant } from './grant.ts';

/** A key as it is stored: its hash, never its text. Times are ms since the epoch. */
export interface KeyRecord extends Grant {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly hash: Uint8Array;
  readonly createdMs: number;
  readonly revokedMs: number | undefined;
  /** Up to a few minutes late: uses are written in batches. */
  readonly lastUsedMs: number | undefined;
  /** Id of the key that it was rotated to. */
  readonly successor: string | undefined;
}

/** The columns of a key, except that of its last change; `record` has what no statement selects by, as JSON. */
export function toRow({ id, hash, createdMs, lastUsedMs, ...record }: KeyRecord) {
  const times = { created_ms: createdMs, last_used_ms: lastUsedMs ?? null };
  return { id, hash, ...times, record: JSON.stringify(record) };
}

/** JSON has no member that is `undefined`. */
type Stored = Grant & Pick<KeyRecord, 'name' | 'description'>;

const NO_PINS: Grant['pins'] = Object.freeze({});

export function toRecord(row: Readonly<Record<string, unknown>>): KeyRecord {
  const { pins, ...record } = JSON.parse(String(row['record'])) as Stored; // only toRow writes it
  return {
    ...{ revokedMs: undefined, successor: undefined, ...record },
    id: String(row['id']),
    // A copy: PostgreSQL's client returns a view of its whole receive buffer.
    hash: row['hash'] instanceof Uint8Array ? new Uint8Array(row['hash']) : new Uint8Array(),
    // The listener remembers URLs by the identity of the pins: keys without any share them.
    pins: Object.keys(pins).length === 0 ? NO_PINS : pins,
    createdMs: Number(row['created_ms']),
    lastUsedMs: row['last_used_ms'] === null ? undefined : Number(row['last_used_ms']),
  };
}

const KEY = /^tr_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/**
 * Creates a key, `tr_<id>_<secret>`, of 256 random bits, which cannot be guessed, so that a plain hash is enough to
 * store.
 */
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
