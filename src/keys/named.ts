import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import { type Refusal, TailraceError } from '../errors.ts';
import { type Grant, isListed, mayRead } from './grant.ts';

// A key with a list gets the same response for items outside of its list and for missing ones: it learns no names and
// no UUIDs. Items of its list may be missing, which 404 reports.

type Lists = Pick<Grant, 'endpoints' | 'sources'>;

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
  const found = registry.findEndpoint(idOrName);
  requireNamed({ list, idOrName, found }, (known) => ({
    message: `the key may not read this endpoint, or there is none; it may read ${known}`,
    refusal: 'endpoint',
  }));
  if (found !== undefined || list === undefined) return registry.getEndpoint(idOrName);
  const message = `there is no endpoint ${JSON.stringify(idOrName)}, which the key names; it may read ${list.join(', ')}`;
  throw new TailraceError('endpoint_not_found', message);
}

/**
 * Returns the source that a request names.
 *
 * @throws TailraceError `forbidden` if the key has a list without it; `source_not_found`
 */
export function getAllowedSource(registry: Sources, lists: Lists, idOrName: string): Source {
  return getListedSource(registry, { list: lists.sources, action: 'send to' }, idOrName);
}

/**
 * Returns the source that a search names.
 *
 * @throws TailraceError as `getAllowedSource`; `forbidden` for a protected source
 */
export function getReadableSource(registry: Sources, grant: Grant, idOrName: string): Source {
  const source = getListedSource(registry, { list: grant.sources, action: 'read' }, idOrName);
  if (mayRead(grant, source)) return source;
  const message = `the key may not read ${source.name}: only keys with the scope "manage" and without lists or pins may`;
  throw reject({ message, refusal: 'source' });
}

type Sources = Pick<Registry, 'findSource' | 'getSource'>;

function getListedSource(
  registry: Sources,
  { list, action }: { readonly list: Lists['sources']; readonly action: 'read' | 'send to' },
  idOrName: string,
): Source {
  const found = registry.findSource(idOrName);
  requireNamed({ list, idOrName, found }, () => describeRejection(list, action));
  if (found !== undefined || list === undefined) return registry.getSource(idOrName);
  const message = `there is no source ${JSON.stringify(idOrName)}, which the key names; it may ${action} ${list.join(', ')}`;
  throw new TailraceError('source_not_found', message);
}

/** @throws TailraceError `forbidden` if the key has a list without the source */
export function requireSource(lists: Lists, source: Source): void {
  if (!isListed(lists.sources, source)) throw reject(describeRejection(lists.sources, 'send to'));
}

/** The error for a key with a list: items outside of the list are rejected like missing ones. */
export function hideMissing(error: unknown, { sources }: Lists): unknown {
  const isMissing = error instanceof TailraceError && error.code === 'source_not_found';
  return isMissing && sources !== undefined ? reject(describeRejection(sources, 'send to')) : error;
}

interface Rejected {
  readonly message: string;
  readonly refusal: Refusal;
}

function describeRejection(list: Grant['sources'], action: string): Rejected {
  const message = `the key may not ${action} this source, or there is none; it may ${action} ${list?.join(', ')}`;
  return { message, refusal: 'source' };
}

interface Named {
  readonly list: readonly string[] | undefined;
  readonly idOrName: string;
  readonly found: { readonly id: string; readonly name: string } | undefined;
}

function requireNamed({ list, idOrName, found }: Named, describe: (known: string) => Rejected): void {
  if (list === undefined) return;
  const isNamed = list.includes(idOrName) || list.includes(idOrName.toLowerCase());
  if (found === undefined ? isNamed : isListed(list, found)) return;
  throw reject(describe(list.join(', ')));
}

function reject({ message, refusal }: Rejected): TailraceError {
  return new TailraceError('forbidden', message, { refusal });
}
