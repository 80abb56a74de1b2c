import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { type Grant, isListed, mayRead } from './grant.ts';

// A key with a list gets the same response for items outside of its list and for missing ones: it learns no names and
// no UUIDs. Items of its list may be missing, which 404 reports.

type Lists = Pick<Grant, 'endpoints' | 'sources'>;
type Sources = Pick<Registry, 'findSource' | 'getSource'>;

/** Returns the endpoint that a request names. @throws TailraceError `forbidden`, `endpoint_not_found` */
export function getAllowedEndpoint(
  registry: Pick<Registry, 'findEndpoint' | 'getEndpoint'>,
  { endpoints: list }: Lists,
  idOrName: string,
): Endpoint {
  if (list)
    checkListed({ kind: 'endpoint', action: 'read', list }, idOrName, registry.findEndpoint(idOrName));
  return registry.getEndpoint(idOrName);
}

/** Returns the source that events are sent to. @throws TailraceError `forbidden`, `source_not_found` */
export function getAllowedSource(registry: Sources, { sources: list }: Lists, idOrName: string): Source {
  if (list) checkListed({ kind: 'source', action: 'send to', list }, idOrName, registry.findSource(idOrName));
  return registry.getSource(idOrName);
}

/** Returns the source that a search names. @throws TailraceError `source_not_found`, `forbidden` */
export function getReadableSource(registry: Sources, grant: Grant, idOrName: string): Source {
  const { sources: list } = grant;
  if (list) checkListed({ kind: 'source', action: 'read', list }, idOrName, registry.findSource(idOrName));
  const source = registry.getSource(idOrName);
  if (mayRead(grant, source)) return source;
  const message = `the key may not read ${source.name}: only keys with the scope "manage" and without lists or pins may`;
  throw new TailraceError('forbidden', message, { rejectReason: 'source' });
}

/** @throws TailraceError `forbidden` if the key has a list without the source */
export function requireSource({ sources: list }: Lists, source: Source): void {
  if (list && !isListed(list, source)) throw reject({ kind: 'source', action: 'send to', list });
}

/** The error for a key with a list: items outside of the list are rejected like missing ones. */
export function hideMissing(error: unknown, { sources: list }: Lists): unknown {
  const isMissing = error instanceof TailraceError && error.code === 'source_not_found';
  return isMissing && list ? reject({ kind: 'source', action: 'send to', list }) : error;
}

interface Use {
  readonly kind: 'endpoint' | 'source';
  readonly action: 'read' | 'send to';
  readonly list: readonly string[];
}

/** @throws TailraceError if the list lacks the item, or the item of the list is missing */
function checkListed(use: Use, idOrName: string, found: Endpoint | Source | undefined): void {
  const { kind, action, list } = use;
  const isNamed = list.includes(idOrName) || list.includes(idOrName.toLowerCase());
  if (found === undefined ? !isNamed : !isListed(list, found)) throw reject(use);
  if (found !== undefined) return;
  const unknown = `there is no ${kind} ${JSON.stringify(idOrName)}, which the key names`;
  throw new TailraceError(`${kind}_not_found`, `${unknown}; it may ${action} ${list.join(', ')}`);
}

function reject({ kind, action, list }: Use): TailraceError {
  const message = `the key may not ${action} this ${kind}, or there is none; it may ${action} ${list.join(', ')}`;
  return new TailraceError('forbidden', message, { rejectReason: kind });
}
