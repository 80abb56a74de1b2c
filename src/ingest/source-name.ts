import type { IncomingHttpHeaders } from 'node:http';
import { type AcceptedProtocol, accepts, GENERAL_SOURCE } from '../definitions/accepts.ts';
import { getSource, type Registry } from '../definitions/registry.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { headerOf } from '../lib/network.ts';
import type { WireEvent } from './body-format.ts';
import { RejectedEvent } from './read-event.ts';

/** A part of a request that may name its source; in a query string a list if a name came more than once. */
type Names = Readonly<Record<string, unknown>>;

/** Members of a body, or parameters, that name its source: each may hold a UUID or a name, unlike Logflare's. */
export const NAMING_MEMBERS = ['source', 'collection', 'source_name', 'collection_name'];
const HEADERS = ['x-source', 'x-collection'];

type Sources = Pick<Registry, 'getSource'>;

/**
 * Finds the source that a request names in its query string, else in its headers.
 * @throws TailraceError `source_not_found`; `invalid_request` for two sources, or one that stores no events
 */
export function findSource(
  sources: Sources,
  { query, headers }: { readonly query: Names; readonly headers: IncomingHttpHeaders },
): Source | undefined {
  const inHeaders = () => HEADERS.flatMap((name) => headerOf({ headers }, name) ?? []);
  return pick(sources, textsAt(query, NAMING_MEMBERS)) ?? pick(sources, inHeaders());
}

/** Returns the source that a member of the body names, else the general one. @throws TailraceError as `findSource` */
export function getSourceOfBody(candidates: readonly Source[], fields: Names): Source {
  const sources: Sources = { getSource: (name) => getSource(candidates, name) };
  try {
    const source = pick(sources, textsAt(fields, NAMING_MEMBERS)) ?? findGeneral(candidates);
    if (source !== undefined) return source;
    const message = 'name a source: ?source_name=<name>, ?source=<uuid> or the header X-Source';
    throw new TailraceError('invalid_request', message);
  } catch (error) {
    if (!(error instanceof TailraceError) || error.code !== 'source_not_found') throw error;
    // An application's log may have such a member.
    const hint = 'the body names it; for an event with such a member, name the source in ?source_name=';
    // Without a cause, which would lose its class between threads.
    throw new TailraceError(error.code, `${error.message}; ${hint}`);
  }
}

function findGeneral(candidates: readonly Source[]): Source | undefined {
  return candidates.find((one) => one.name === GENERAL_SOURCE && isManaged(one));
}

/** Finds the source of an event that names none: the first that accepts its labels, else `logs`. @throws RejectedEvent */
export function chooseSource(
  candidates: readonly Source[],
  protocol: AcceptedProtocol | undefined,
  { labels = {} }: WireEvent,
): Source {
  const source =
    candidates.find((one) =>
      one.accepts?.some((rule) => rule.protocol === protocol && accepts(rule, labels)),
    ) ?? findGeneral(candidates);
  if (source !== undefined) return source;
  throw new RejectedEvent(
    'belongs to no source that this key may send to: none accepts it, and there is no source ' +
      `"${GENERAL_SOURCE}"; name one in the header X-Source`,
  );
}

/** @throws TailraceError `invalid_request` for a source that reads a table of others, or that only Tailrace writes */
export function rejectUnwritable(source: Source): Source {
  const { isInternal = false } = source;
  if (!isInternal && isManaged(source)) return source;
  const why = isInternal
    ? 'is written by Tailrace (internal: true)'
    : 'reads an existing table (managed: false)';
  throw new TailraceError('invalid_request', `${source.name} ${why}; events cannot be sent to it`);
}

function pick(sources: Sources, texts: readonly string[]): Source | undefined {
  const [first, ...others] = texts.map((text) => sources.getSource(text));
  if (first === undefined) return undefined;
  const other = others.find((source) => source !== first);
  if (other === undefined) return rejectUnwritable(first);
  const message = `the request names two sources, ${first.name} and ${other.name}; name one`;
  throw new TailraceError('invalid_request', message);
}

function textsAt(place: Names, names: readonly string[]): string[] {
  const values = names.flatMap((name) => (Object.hasOwn(place, name) ? [place[name]].flat() : []));
  return values.filter((value): value is string => typeof value === 'string' && value !== '');
}
