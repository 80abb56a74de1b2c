import { type Static, type TSchema, Type } from 'typebox';
import { invalidRequest } from '../errors.ts';
import type { StoredEntry } from '../keys/audit.ts';
import {
  createRate,
  DESCRIPTION_CHARS_MAX,
  type Grant,
  type KeyRecord,
  LISTED_MAX,
  NAME_CHARS_MAX,
  PER_SECOND_MAX,
  PINS_MAX,
  SCOPES,
  toListed,
} from '../keys/grant.ts';
import type { KeyChange } from '../keys/management.ts';
import { isoTimeOrNull, MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { closed, oneOf, optional, shortText, wholeNumber } from '../lib/schema.ts';
import type { KeyEntry, KeyView } from './view.ts';

const orNone = <T extends TSchema>(schema: T, expected: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { expected }));
const NAMES = Type.Array(shortText(NAME_CHARS_MAX), { maxItems: LISTED_MAX });
const RATE = closed({
  per_second: Type.Number({ exclusiveMinimum: 0, maximum: PER_SECOND_MAX }),
  burst: Type.Optional(
    wholeNumber(PER_SECOND_MAX, { description: 'Requests at once; twice `per_second` by default.' }),
  ),
});

export const FIELDS = {
  name: Type.String({
    pattern: '\\S',
    maxLength: NAME_CHARS_MAX,
    expected: `a string of 1 to ${NAME_CHARS_MAX} characters`,
  }),
  description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARS_MAX })),
  scopes: Type.Array(oneOf(SCOPES), {
    ...{ maxItems: SCOPES.length, uniqueItems: true },
    expected: `a list of ${SCOPES.join(', ')}`,
  }),
  endpoints: orNone(NAMES, 'a list of names or UUIDs of endpoints, or null for all'),
  sources: orNone(NAMES, 'a list of names or UUIDs of sources, or null for all'),
  pins: Type.Optional(
    Type.Record(Type.String({ maxLength: 63 }), Type.String(), {
      maxProperties: PINS_MAX,
      expected: 'a map of parameters and their values',
    }),
  ),
  rate: orNone(
    RATE,
    `{"per_second": …} with or without "burst", up to ${PER_SECOND_MAX}, or null for no limit`,
  ),
  expires_at: orNone(Type.String(), 'an ISO 8601 timestamp, or null for never'),
};

export const NEW_KEY = closed(FIELDS);
export type NewKeyBody = Static<typeof NEW_KEY>;
export const KEY_CHANGE = closed(optional(FIELDS));
export type KeyChangeBody = Static<typeof KEY_CHANGE>;

export const ROTATION = closed({
  overlap_seconds: Type.Optional(
    wholeNumber(366 * 86_400, { minimum: 0, expected: 'a whole number of seconds, at most a year' }),
  ),
});

/** Converts a request body to a change of the keyring. Null removes a limit; a member that is left out stays as it is. */
export function toChange(body: KeyChangeBody, nowMs: number): KeyChange {
  const { name, endpoints, sources, rate, expires_at: expiresAt, ...same } = body;
  return {
    ...same,
    ...(name !== undefined && { name: name.trim() }),
    ...(endpoints !== undefined && { endpoints: endpoints ? toListed(endpoints) : undefined }),
    ...(sources !== undefined && { sources: sources ? toListed(sources) : undefined }),
    ...(rate !== undefined && { rate: rate ? createRate(rate.per_second, rate.burst) : undefined }),
    ...(expiresAt !== undefined && { expiresMs: parseExpiry(expiresAt, nowMs) }),
  };
}

function parseExpiry(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const micros = parseInstant(text);
  if (micros !== undefined && micros / MICROS_PER_MS > nowMs) return Math.floor(micros / MICROS_PER_MS);
  const message = 'must be a future ISO 8601 timestamp, such as 2030-01-01T00:00:00Z';
  throw invalidRequest([{ parameter: 'expires_at', message }]);
}

/** Describes a key without its secret and the secret's hash. */
export function toKeyView(record: KeyRecord): KeyView {
  const { id, name, description } = record;
  return {
    ...{ id, name, description, ...toGrantView(record) },
    created_at: isoTimeOrNull(record.createdMs),
    expires_at: isoTimeOrNull(record.expiresMs),
    last_used_at: isoTimeOrNull(record.lastUsedMs),
    revoked_at: isoTimeOrNull(record.revokedMs),
    successor: record.successor ?? null,
  };
}

/** Describes an entry of the audit trail. */
export function toEntryView({ atMs, keyId, address = '', ...entry }: StoredEntry): KeyEntry {
  const { id, action, actor, detail, count } = entry;
  return { id, at: isoTimeOrNull(atMs), action, key_id: keyId, actor, address, detail, count };
}

/** Describes the rights of a key or a token; the calling code adds the expiry. */
export function toGrantView({ scopes, endpoints, sources, pins, rate }: Grant) {
  return {
    scopes: [...scopes],
    endpoints: endpoints === undefined ? null : [...endpoints],
    sources: sources === undefined ? null : [...sources],
    pins,
    rate: rate === undefined ? null : { per_second: rate.perSecond, burst: rate.burst },
  };
}
