import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Grant, isScope } from './grant.ts';

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

/** The columns that an update of a key writes: not its identity, nor those that other statements write. */
export const CHANGEABLE = [
  ...['name', 'description', 'scopes', 'endpoints', 'sources', 'pins', 'rate_per_second', 'rate_burst'],
  ...['expires_ms', 'revoked_ms', 'successor'],
] as (keyof ReturnType<typeof toRow>)[];

export function toRow(record: KeyRecord) {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    hash: record.hash,
    scopes: record.scopes.join(','),
    endpoints: record.endpoints === undefined ? null : JSON.stringify(record.endpoints),
    sources: record.sources === undefined ? null : JSON.stringify(record.sources),
    pins: JSON.stringify(record.pins),
    rate_per_second: record.rate?.perSecond ?? null,
    rate_burst: record.rate?.burst ?? null,
    created_ms: record.createdMs,
    expires_ms: record.expiresMs ?? null,
    revoked_ms: record.revokedMs ?? null,
    last_used_ms: record.lastUsedMs ?? null,
    successor: record.successor ?? null,
  };
}

export function toRecord(row: Readonly<Record<string, unknown>>): KeyRecord {
  return {
    id: String(row['id']),
    name: String(row['name']),
    description: String(row['description']),
    // A copy: PostgreSQL's client returns a view of its whole receive buffer.
    hash: row['hash'] instanceof Uint8Array ? new Uint8Array(row['hash']) : new Uint8Array(),
    scopes: String(row['scopes']).split(',').filter(isScope),
    endpoints: toList(row['endpoints']),
    sources: toList(row['sources']),
    pins: toPins(row['pins']),
    rate: toRate(row),
    createdMs: Number(row['created_ms']),
    expiresMs: toNumber(row['expires_ms']),
    revokedMs: toNumber(row['revoked_ms']),
    lastUsedMs: toNumber(row['last_used_ms']),
    successor: toText(row['successor']),
  };
}

function toNumber(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}

function toText(value: unknown): string | undefined {
  return value === null ? undefined : String(value);
}

function toList(value: unknown): readonly string[] | undefined {
  return value === null ? undefined : (JSON.parse(String(value)) as readonly string[]); // only toRow writes it
}

const NO_PINS: Grant['pins'] = Object.freeze({});

function toPins(value: unknown): Grant['pins'] {
  return value === '{}' ? NO_PINS : (JSON.parse(String(value)) as Grant['pins']); // only toRow writes it
}

function toRate(row: Readonly<Record<string, unknown>>): Grant['rate'] {
  const perSecond = toNumber(row['rate_per_second']);
  const burst = toNumber(row['rate_burst']);
  return perSecond === undefined || burst === undefined ? undefined : { perSecond, burst };
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
