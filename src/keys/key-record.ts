import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Grant } from './grant.ts';
import { isScope } from './scope.ts';

/** A key as it is kept: its hash, never itself. Times are ms since the epoch. */
export interface KeyRecord extends Grant {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly hash: Uint8Array;
  readonly createdMs: number;
  readonly revokedMs: number | undefined;
  /** Within a few minutes: it is written seldom. */
  readonly lastUsedMs: number | undefined;
  /** Id of the key that it was rotated to. */
  readonly successor: string | undefined;
}

/** A key as a row of the control store: src/keys/migrations.ts. */
export interface KeyRow {
  readonly id: SQLInputValue;
  readonly name: SQLInputValue;
  readonly description: SQLInputValue;
  readonly hash: SQLInputValue;
  readonly scopes: SQLInputValue;
  readonly endpoints: SQLInputValue;
  readonly sources: SQLInputValue;
  readonly pins: SQLInputValue;
  readonly rate_per_second: SQLInputValue;
  readonly rate_burst: SQLInputValue;
  readonly created_ms: SQLInputValue;
  readonly expires_ms: SQLInputValue;
  readonly revoked_ms: SQLInputValue;
  readonly last_used_ms: SQLInputValue;
  readonly successor: SQLInputValue;
}

export function toRow(record: KeyRecord): KeyRow {
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

export function toRecord(row: Readonly<Record<string, SQLOutputValue>>): KeyRecord {
  return {
    id: String(row['id']),
    name: String(row['name']),
    description: String(row['description']),
    hash: row['hash'] instanceof Uint8Array ? row['hash'] : new Uint8Array(),
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

function toText(value: SQLOutputValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

function toNumber(value: SQLOutputValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

function toList(value: SQLOutputValue | undefined): readonly string[] | undefined {
  return value === null ? undefined : (JSON.parse(String(value)) as readonly string[]); // written by toRow alone
}

const NO_PINS: Grant['pins'] = Object.freeze({});

function toPins(value: SQLOutputValue | undefined): Grant['pins'] {
  return value === '{}' ? NO_PINS : (JSON.parse(String(value)) as Grant['pins']); // written by toRow alone
}

function toRate(row: Readonly<Record<string, SQLOutputValue>>): Grant['rate'] {
  const perSecond = toNumber(row['rate_per_second']);
  const burst = toNumber(row['rate_burst']);
  return perSecond === undefined || burst === undefined ? undefined : { perSecond, burst };
}
