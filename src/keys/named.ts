import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { type Grant, isListed, mayRead } from './grant.ts';

// A key with a list gets the same response for items outside of its list and for missing ones: it learns no names and
// no UUIDs. Items of its list may be missing, which 404 reports.

type Lists = Pick<Grant, 'endpoints' | 'sources'>;
type Sources = Pick<Registry, 'findSource' | 'getSource'>;

/**
 * Returns the endpoint that a request names.
 *
 * @throws TailraceError `forbidden` if the key has a list without it; `endpoint_not_found`
 */
export function getAllowedEndpoint(
  registry: Pick<Registry, 'findEndpoint' | 'getEndpoint'>,
  { endpoints: list }: Lists,
  idOrName: string,
): Endpoint {
  checkListed({ kind: 'endpoint', action: 'read', list, idOrName }, registry.findEndpoint(idOrName));
  return registry.getEndpoint(idOrName);
}

/**
 * Returns the source that a request names.
 *
 * @throws TailraceError `forbidden` if the key has a list without it; `source_not_found`
 */
export function getAllowedSource(registry: Sources, { sources: list }: Lists, idOrName: string): Source {
  checkListed({ kind: 'source', action: 'send to', list, idOrName }, registry.findSource(idOrName));
  return registry.getSource(idOrName);
}

/**
 * Returns the source that a search names.
 *
 * @throws TailraceError as `getAllowedSource`; `forbidden` for a protected source
 */
export function getReadableSource(registry: Sources, grant: Grant, idOrName: string): Source {
  const { sources: list } = grant;
  checkListed({ kind: 'source', action: 'read', list, idOrName }, registry.findSource(idOrName));
  const source = registry.getSource(idOrName);
  if (mayRead(grant, source)) return source;
  const message = `the key may not read ${source.name}: only keys with the scope "manage" and without lists or pins may`;
  throw new TailraceError('forbidden', message, { rejectReason: 'source' });
}

/** @throws TailraceError `forbidden` if the key has a list without the source */
export function requireSource({ sources: list }: Lists, source: Source): void {
  if (!isListed(list, source)) throw reject({ kind: 'source', action: 'send to', list });
}

/** The error for a key with a list: items outside of the list are rejected like missing ones. */
export function hideMissing(error: unknown, { sources: list }: Lists): unknown {
  const isMissing = error instanceof TailraceError && error.code === 'source_not_found';
  return isMissing && list !== undefined ? reject({ kind: 'source', action: 'send to', list }) : error;
}

interface Asked {
  readonly kind: 'endpoint' | 'source';
  readonly action: 'read' | 'send to';
  /** `undefined`: all. */
  readonly list: readonly string[] | undefined;
  readonly idOrName: string;
}

/** @throws TailraceError if the key has a list without the item, or the item of its list is missing */
function checkListed({ idOrName, ...asked }: Asked, found: Parameters<typeof isListed>[1] | undefined): void {
  const { kind, action, list } = asked;
  if (list === undefined) return;
  const isNamed = list.includes(idOrName) || list.includes(idOrName.toLowerCase());
  if (found === undefined ? !isNamed : !isListed(list, found)) throw reject(asked);
  if (found !== undefined) return;
  const unknown = `there is no ${kind} ${JSON.stringify(idOrName)}, which the key names`;
  throw new TailraceError(`${kind}_not_found`, `${unknown}; it may ${action} ${list.join(', ')}`);
}

function reject({ kind, action, list = [] }: Omit<Asked, 'idOrName'>): TailraceError {
  const message = `the key may not ${action} this ${kind}, or there is none; it may ${action} ${list.join(', ')}`;
  return new TailraceError('forbidden', message, { rejectReason: kind });
}
