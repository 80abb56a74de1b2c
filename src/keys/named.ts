import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import { type Refusal, TailraceError } from '../errors.ts';
import { type Grant, isListed } from './grant.ts';

// A key with a list gets one response for what it lacks and for what does not exist: it learns no name, no UUID and no existence.
// What its list has may be missing, and 404 says so.

type Lists = Pick<Grant, 'endpoints' | 'sources'>;

/**
 * The endpoint that a request names.
 *
 * @throws TailraceError `forbidden` if the key has a list without it; `endpoint_not_found`
 */
export function getAllowedEndpoint(
  registry: Pick<Registry, 'findEndpoint' | 'getEndpoint'>,
  { endpoints: list }: Lists,
  idOrName: string,
): Endpoint {
  requireNamed({ list, idOrName, found: registry.findEndpoint(idOrName) }, (known) => ({
    message: `the key may not read this endpoint, or there is none; it may read ${known}`,
    refusal: 'endpoint',
  }));
  return registry.getEndpoint(idOrName);
}

/**
 * The source that a request names.
 *
 * @param action what the key does with it
 * @throws TailraceError `forbidden` if the key has a list without it; `source_not_found`
 */
export function getAllowedSource(
  registry: Pick<Registry, 'findSource' | 'getSource'>,
  { lists: { sources: list }, action }: { readonly lists: Lists; readonly action: 'read' | 'send to' },
  idOrName: string,
): Source {
  const found = registry.findSource(idOrName);
  requireNamed({ list, idOrName, found }, () => describeRefusal(list, action));
  if (found !== undefined || list === undefined) return registry.getSource(idOrName);
  const message = `there is no source ${JSON.stringify(idOrName)}, which the key names; it may ${action} ${list.join(', ')}`;
  throw new TailraceError('source_not_found', message);
}

/** @throws TailraceError `forbidden` if the key has a list without the source */
export function requireSource(lists: Lists, source: Source): void {
  if (!isListed(lists.sources, source)) throw refuse(describeRefusal(lists.sources, 'send to'));
}

/** For a key with a list: what it lacks is refused as what does not exist. */
export function hideMissing(error: unknown, { sources }: Lists): unknown {
  const isMissing = error instanceof TailraceError && error.code === 'source_not_found';
  return isMissing && sources !== undefined ? refuse(describeRefusal(sources, 'send to')) : error;
}

interface Refused {
  readonly message: string;
  readonly refusal: Refusal;
}

function describeRefusal(list: Grant['sources'], action: string): Refused {
  const message = `the key may not ${action} this source, or there is none; it may ${action} ${list?.join(', ')}`;
  return { message, refusal: 'source' };
}

interface Named {
  readonly list: readonly string[] | undefined;
  readonly idOrName: string;
  readonly found: { readonly id: string; readonly name: string } | undefined;
}

function requireNamed({ list, idOrName, found }: Named, describe: (known: string) => Refused): void {
  if (list === undefined) return;
  const isNamed = list.includes(idOrName) || list.includes(idOrName.toLowerCase());
  if (found === undefined ? isNamed : isListed(list, found)) return;
  throw refuse(describe(list.join(', ')));
}

function refuse({ message, refusal }: Refused): TailraceError {
  return new TailraceError('forbidden', message, { refusal });
}
