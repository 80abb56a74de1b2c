import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Definitions } from '../definitions/read.ts';
import type { ParameterFault } from '../errors.ts';
import type { Rate } from '../lib/token-bucket.ts';
import { isPossiblePin, OWNER } from '../query/pins.ts';

/** The scopes of a key: read endpoints, send events, manage the service, read its metrics, which `manage` includes. */
export const SCOPES = ['query', 'ingest', 'manage', 'metrics'] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether scopes include another: `manage` reads metrics, too. */
function includesScope(scopes: readonly string[], scope: Scope): boolean {
  return scopes.includes(scope) || (scope === 'metrics' && scopes.includes('manage'));
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** The rights of a key. An `undefined` member is not limited. */
export interface Grant {
  readonly scopes: readonly Scope[];
  /** UUIDs or names of endpoints. */
  readonly endpoints?: readonly string[] | undefined;
  /** UUIDs or names of sources that events may be sent to. */
  readonly sources?: readonly string[] | undefined;
  /** Query parameters and the only value of each; `project` also applies to events that are sent. */
  readonly pins: Readonly<Record<string, string>>;
  readonly rate?: Rate | undefined;
  /** ms since the epoch; from this instant on the key is not valid. */
  readonly expiresMs?: number | undefined;
}

type List = readonly string[] | undefined;
type Named = Pick<KeyRecord, 'id' | 'name'>;

/** Whether a list of UUIDs (lower case) and names contains the item; no list means all. */
export function isListed(list: List, { id, name }: Named): boolean {
  return list === undefined || list.includes(name) || list.includes(id);
}

/** Whether nothing but its scopes limits a caller. */
export function isUnrestricted({ endpoints, sources, pins }: Grant): boolean {
  return endpoints === undefined && sources === undefined && Object.keys(pins).length === 0;
}

/** Whether a caller manages all of the service. */
export function isManager(caller: Grant): boolean {
  return caller.scopes.includes('manage') && isUnrestricted(caller);
}

/** Whether a caller with the scope `query` may search a source; a protected one only if it manages all of the service. */
export function mayRead(caller: Grant, source: Named & { readonly isProtected?: boolean }): boolean {
  return source.isProtected === true ? isManager(caller) : isListed(caller.sources, source);
}

/**
 * Whether `child` has no right beyond those of `parent`. A UUID and the name of the same endpoint count as different:
 * they cannot be matched here, so at worst a valid grant is rejected.
 * @returns why it is wider; `undefined` if it is not
 */
export function isNarrower(child: Grant, parent: Grant): string | undefined {
  const reason = isWithinReach(child, parent) ?? isWithinRate(child.rate, parent.rate);
  const [childMs = Number.POSITIVE_INFINITY, parentMs] = [child.expiresMs, parent.expiresMs];
  if (reason !== undefined || parentMs === undefined || childMs <= parentMs) return reason;
  return `it must expire by ${new Date(parentMs).toISOString()}`;
}

/** As `isNarrower`, without rate and expiry. @returns why it is wider; `undefined` if it is not */
export function isWithinReach(child: Grant, parent: Grant): string | undefined {
  const scope = child.scopes.find((one) => !includesScope(parent.scopes, one));
  if (scope !== undefined) return `the scope "${scope}" is beyond ${parent.scopes.join(', ') || 'none'}`;
  return (
    isWithinList('endpoint', child.endpoints, parent.endpoints) ??
    isWithinList('source', child.sources, parent.sources) ??
    isWithinPins(child.pins, parent.pins)
  );
}

function isWithinList(what: string, child: List, parent: List): string | undefined {
  if (parent === undefined) return undefined;
  const other = child?.find((one) => !parent.includes(one));
  if (child !== undefined && other === undefined) return undefined;
  return `${child ? `the ${what} ${other}` : `every ${what}`} is beyond ${parent.join(', ') || 'none'}`;
}

function isWithinPins(child: Grant['pins'], parent: Grant['pins']): string | undefined {
  const name = Object.keys(parent).find((one) => !Object.hasOwn(child, one) || child[one] !== parent[one]);
  return name === undefined ? undefined : `${name} must be pinned to ${JSON.stringify(parent[name])}`;
}

function isWithinRate(child: Rate | undefined, parent: Rate | undefined): string | undefined {
  if (parent === undefined) return undefined;
  if (child && child.perSecond <= parent.perSecond && child.burst <= parent.burst) return undefined;
  const describe = ({ perSecond, burst }: Rate) => `${perSecond} a second with a burst of ${burst}`;
  return `${child ? describe(child) : 'any number of requests'} is beyond ${describe(parent)}`;
}

/** Describes the grant to people in one line. */
export function describeGrant({ scopes, endpoints, sources, pins, rate, expiresMs }: Grant): string {
  const parts = [
    `scope${scopes.length === 1 ? '' : 's'} ${scopes.join(', ') || 'none'}`,
    endpoints && `endpoints ${endpoints.join(', ') || 'none'}`,
    sources && `sources ${sources.join(', ') || 'none'}`,
    ...Object.entries(pins).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    rate && `${rate.perSecond} requests/s, burst ${rate.burst}`,
    expiresMs !== undefined && `until ${new Date(expiresMs).toISOString()}`,
  ];
  return parts.filter(Boolean).join('; ');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Normalizes UUIDs and names as they are stored: without duplicates, UUIDs in lower case. */
export function toListed(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => (UUID.test(text) ? text.toLowerCase() : text)))];
}

export const LISTED_MAX = 1_000;
export const PINS_MAX = 32;
const PIN_CHARS_MAX = 256;
export const PER_SECOND_MAX = 1_000_000;
export const NAME_CHARS_MAX = 100;
export const DESCRIPTION_CHARS_MAX = 1_000;

const CONTROL = /\p{Cc}/u;

/** @param burst requests at once; by default twice the rate, so that a client may catch up after a pause */
export function createRate(perSecond: number, burst?: number): Rate {
  const twice = Math.max(1, Math.ceil(perSecond * 2));
  return { perSecond, burst: burst ?? Math.min(PER_SECOND_MAX, twice) };
}

/** Finds the faults of a grant by itself: no part of it may be silently ignored. */
export function checkGrant(grant: Grant): ParameterFault[] {
  const { scopes, endpoints, sources, pins } = grant;
  const faults: ParameterFault[] = [];
  const report = (parameter: string, message: string) => faults.push({ parameter, message });
  const names = Object.keys(pins);
  if (scopes.length === 0) report('scopes', 'must name at least one');
  if (endpoints?.length === 0) report('endpoints', 'must name at least one; leave it out for all');
  if (sources?.length === 0) report('sources', 'must name at least one; leave it out for all');
  if (names.length > PINS_MAX) report('pins', `must be at most ${PINS_MAX}`);
  for (const name of names.filter((one) => !isPinText(pins[one] ?? '')))
    report(`pins.${name}`, `must have 1 to ${PIN_CHARS_MAX} characters and no control characters`);
  if (names.length > 0 && scopes.includes('ingest') && !names.includes(OWNER))
    report('pins', `must have ${OWNER} with the scope ingest: it is the only pin that applies to events`);
  return faults;
}

export function isPinText(text: string): boolean {
  return text !== '' && text.length <= PIN_CHARS_MAX && !CONTROL.test(text) && text.isWellFormed();
}

/** Finds names in a grant that the definitions lack. @param open names of pins whose values are not known yet */
export function checkAgainst(
  { endpoints, sources }: Pick<Definitions, 'endpoints' | 'sources'>,
  grant: Grant,
  open: readonly string[] = [],
): ParameterFault[] {
  const reachable = endpoints.filter((endpoint) => isListed(grant.endpoints, endpoint));
  const declared = reachable.flatMap((endpoint) =>
    endpoint.parameters.map((parameter) => ({ endpoint, parameter })),
  );
  return [
    ...checkNames('endpoints', grant.endpoints, endpoints),
    ...checkNames('sources', grant.sources, sources),
    ...[...Object.entries(grant.pins), ...open.map((name) => [name] as const)].flatMap(([name, pin]) => {
      if (pin !== undefined && !isPinText(pin)) return []; // reported by checkGrant
      const same = declared.filter(({ parameter }) => parameter.name === name);
      const unfit = same.find(
        ({ parameter }) => pin !== undefined && !isPossiblePin(parameter, pin, PIN_BYTES_MAX),
      );
      if (unfit !== undefined) {
        const { type, values } = unfit.parameter;
        const right = values.length > 0 ? `one of ${values.join(', ')}` : `of the type ${type}`;
        return [{ parameter: `pins.${name}`, message: `must be ${right} for ${unfit.endpoint.name}` }];
      }
      // The pin of a key that only sends events is a field of the event.
      if (same.length > 0 || (name === OWNER && !grant.scopes.includes('query'))) return [];
      if (reachable.length === 0) return []; // none of the grant's endpoints exists, which is reported above
      const known = [...new Set(declared.map(({ parameter }) => parameter.name))];
      return [
        { parameter: `pins.${name}`, message: `is not a parameter; there are ${known.join(', ') || 'none'}` },
      ];
    }),
  ];
}

const PIN_BYTES_MAX = 4 * PIN_CHARS_MAX;

function checkNames(parameter: string, given: List, items: readonly Named[]): ParameterFault[] {
  const unknown = given?.filter((text) => !items.some((item) => isListed([text], item))) ?? [];
  if (unknown.length === 0) return [];
  const known = items.map((item) => item.name).join(', ') || 'none';
  return [{ parameter, message: `has no ${unknown.join(', ')}; there are ${known}` }];
}

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

/** Returns why a key is no longer accepted; `undefined` if it is. */
export function findFault(
  { revokedMs, expiresMs }: KeyRecord,
  nowMs: number,
): 'revoked' | 'expired' | undefined {
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs !== undefined && expiresMs <= nowMs ? 'expired' : undefined;
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

/** `tr`: of a key, `ts`: of a session. */
type SecretKind = 'tr' | 'ts';

const SECRET = /^(t[rs])_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/** Creates a secret, `<kind>_<id>_<…>`. Its 256 random bits cannot be guessed, so a plain hash is enough to store. */
export function createSecret(kind: SecretKind = 'tr') {
  const id = randomBytes(6).toString('hex');
  const key = `${kind}_${id}_${randomBytes(32).toString('base64url')}`;
  return { key, id, hash: hashKey(key) };
}

/** Returns the id within a secret; `undefined` if the text does not have the form of one. */
export function findKeyId(key: string, kind: SecretKind = 'tr'): string | undefined {
  const [, found, id] = SECRET.exec(key) ?? [];
  return found === kind ? id : undefined;
}

export function hashKey(key: string): Buffer {
  // Via a string: allocating a Buffer for a digest takes several times as long as the hashing.
  return Buffer.from(hash('sha256', key, 'binary'), 'binary');
}

/** Compares in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
