import type { Registry } from '../definitions/registry.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';

/** The places of a request that may name its source; a list where a name came more than once. */
export interface SourceNames {
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly fields: SourceFields;
}

/** The members of a body that may name its source. */
export type SourceFields = Readonly<Record<string, unknown>>;

const BY_ID = ['source', 'collection'];
const BY_NAME = ['source_name', 'collection_name'];
const HEADERS = ['x-source', 'x-collection'];

/**
 * The source of a request: from the query string, else the headers, else the members of a body that is an object. Logflare
 * tells UUID (`source`) and name (`source_name`) apart; here either may be in either.
 *
 * @param fallback name or UUID of the source where none is named; empty for none
 * @throws TailraceError `invalid_request` when none is named or two are that differ, or it takes none; `source_not_found`
 */
export function chooseSource(
  registry: Registry,
  { query, headers, fields }: SourceNames,
  fallback = '',
): Source {
  const places = [
    [query, [...BY_ID, ...BY_NAME]],
    [headers, HEADERS],
    [fields, [...BY_ID, ...BY_NAME]],
  ] as const;
  for (const [place, names] of places) {
    const given = names.flatMap((name) => textsAt(place, name));
    if (given.length > 0) return refuseExternal(agree(given.map((text) => registry.getSource(text))));
  }
  if (fallback !== '') return refuseExternal(registry.getSource(fallback));
  throw new TailraceError(
    'invalid_request',
    'name a source: ?source_name=<name>, ?source=<uuid> or the header X-Source',
  );
}

/** @throws TailraceError `invalid_request` for a source whose table is not Tailrace's own */
export function refuseExternal(source: Source): Source {
  if (isManaged(source)) return source;
  throw new TailraceError(
    'invalid_request',
    `${source.name} reads an existing table (managed: false); events cannot be sent to it`,
  );
}

/** What `chooseSource` looks at, out of all the members of a body. */
export function pickSourceFields(fields: Readonly<Record<string, unknown>>): SourceFields {
  const names = [...BY_ID, ...BY_NAME].filter((name) => textsAt(fields, name).length > 0);
  return Object.fromEntries(names.map((name) => [name, textsAt(fields, name)]));
}

function textsAt(place: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = Object.hasOwn(place, name) ? place[name] : undefined;
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
}

function agree(sources: readonly Source[]): Source {
  const [first, ...others] = sources;
  const other = others.find((source) => source !== first);
  if (first !== undefined && other === undefined) return first;
  throw new TailraceError(
    'invalid_request',
    `the request names two sources, ${first?.name} and ${other?.name}; name one`,
  );
}
