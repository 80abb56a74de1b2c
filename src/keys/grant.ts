import type { Rate } from '../lib/token-bucket.ts';
import type { Scope } from './scope.ts';

/** What the holder of a key may do. Whatever is not limited is `undefined`. */
export interface Grant {
  readonly scopes: readonly Scope[];
  /** UUIDs or names of the endpoints that may be read. */
  readonly endpoints?: readonly string[] | undefined;
  /** UUIDs or names of the sources that events may be sent to. */
  readonly sources?: readonly string[] | undefined;
  /** Query parameters with the one value that each may have; `project` also holds for the events that are sent. */
  readonly pins: Readonly<Record<string, string>>;
  readonly rate?: Rate | undefined;
  /** ms since the epoch; not valid from this instant on. */
  readonly expiresMs?: number | undefined;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Whether a list of UUIDs and names has this one; no list means all. UUIDs are kept in small letters. */
export function isListed(list: readonly string[] | undefined, { id, name }: Named): boolean {
  return list === undefined || list.includes(name) || list.includes(id);
}

/**
 * Whether `child` may do nothing that `parent` may not.
 *
 * A UUID and the name of the same endpoint count as two: which belong together is not known here, and taking them for
 * different can only refuse too much.
 *
 * @returns the reason why not; `undefined` when it is so
 */
export function isNarrower(child: Grant, parent: Grant): string | undefined {
  return isWithinReach(child, parent) ?? isWithinRate(child, parent) ?? isWithinTime(child, parent);
}

/**
 * Whether everything that `child` can reach is within the reach of `parent`, however often and however long.
 *
 * @returns the reason why not; `undefined` when it is so
 */
export function isWithinReach(child: Grant, parent: Grant): string | undefined {
  const scope = child.scopes.find((one) => !parent.scopes.includes(one));
  if (scope !== undefined) return `the scope "${scope}" is beyond ${parent.scopes.join(', ') || 'none'}`;
  return (
    isWithinList('endpoint', child.endpoints, parent.endpoints) ??
    isWithinList('source', child.sources, parent.sources) ??
    isWithinPins(child.pins, parent.pins)
  );
}

function isWithinList(
  what: string,
  child: readonly string[] | undefined,
  parent: readonly string[] | undefined,
): string | undefined {
  if (parent === undefined) return undefined;
  if (child === undefined) return `every ${what} is beyond ${parent.join(', ') || 'none'}`;
  const other = child.find((one) => !parent.includes(one));
  return other === undefined ? undefined : `the ${what} ${other} is beyond ${parent.join(', ') || 'none'}`;
}

function isWithinPins(child: Grant['pins'], parent: Grant['pins']): string | undefined {
  const name = Object.keys(parent).find((one) => !Object.hasOwn(child, one) || child[one] !== parent[one]);
  return name === undefined ? undefined : `${name} must be pinned to ${JSON.stringify(parent[name])}`;
}

function isWithinRate({ rate: child }: Grant, { rate: parent }: Grant): string | undefined {
  if (parent === undefined) return undefined;
  const bound = `${parent.perSecond} a second with a burst of ${parent.burst}`;
  if (child === undefined) return `any number of requests is beyond ${bound}`;
  const within = child.perSecond <= parent.perSecond && child.burst <= parent.burst;
  return within ? undefined : `${child.perSecond} a second with a burst of ${child.burst} is beyond ${bound}`;
}

function isWithinTime({ expiresMs: child }: Grant, { expiresMs: parent }: Grant): string | undefined {
  if (parent === undefined || (child !== undefined && child <= parent)) return undefined;
  return `it must expire by ${new Date(parent).toISOString()}`;
}

/** In one line, for people. */
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

/** UUIDs and names as they are kept: each once, UUIDs in small letters. */
export function toListed(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => (UUID.test(text) ? text.toLowerCase() : text)))];
}
