import { type ErrorCode, TailraceError } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';
import type { Alert } from './alert.ts';
import type { Dashboard } from './dashboard.ts';
import type { Endpoint } from './endpoint.ts';
import type { Definitions } from './read.ts';
import type { SavedSearch } from './saved-search.ts';
import type { Source } from './source.ts';

/** The definitions that are served. `replace` swaps the whole set at once, between two requests. */
export interface Registry {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
  readonly alerts: readonly Alert[];
  readonly dashboards: readonly Dashboard[];
  readonly searches: readonly SavedSearch[];
  findEndpoint(idOrName: string): Endpoint | undefined;
  /** @throws TailraceError `endpoint_not_found` */
  getEndpoint(idOrName: string): Endpoint;
  findSource(idOrName: string): Source | undefined;
  /** @throws TailraceError `source_not_found` */
  getSource(idOrName: string): Source;
  /** @throws TailraceError `not_found` */
  getAlert(idOrName: string): Alert;
  replace(definitions: Definitions): void;
}

/** Looks definitions up by UUID, in any letter case, or by name (spec 4). */
export function createRegistry(definitions: Definitions): Registry {
  let endpoints = new Map<string, Endpoint>();
  let sources = new Map<string, Source>();
  const registry = {
    ...listAll(definitions),
    findEndpoint: (idOrName: string) => find(endpoints, idOrName),
    getEndpoint(idOrName: string) {
      const endpoint = find(endpoints, idOrName);
      if (endpoint !== undefined) return endpoint;
      throw toMissing('endpoint', idOrName, { items: registry.endpoints, code: 'endpoint_not_found' });
    },
    findSource: (idOrName: string) => find(sources, idOrName),
    getSource(idOrName: string) {
      const source = find(sources, idOrName);
      if (source !== undefined) return source;
      const known = registry.sources.map((one) => one.name).join(', ');
      throw new TailraceError(
        'source_not_found',
        `no source has the UUID or name ${shorten(idOrName)}; there are ${known}; each is a file of TAILRACE_SOURCES_DIR`,
      );
    },
    getAlert: (idOrName: string) => getNamed('alert', registry.alerts, idOrName),
    replace(next: Definitions) {
      Object.assign(registry, listAll(next));
      endpoints = byIdAndName(next.endpoints);
      sources = byIdAndName(next.sources);
    },
  };
  registry.replace(definitions);
  return registry;
}

function listAll({ endpoints, sources, alerts = [], dashboards = [], searches = [] }: Definitions) {
  return { endpoints, sources, alerts, dashboards, searches };
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the definition that a request names, of those that its caller may know.
 *
 * @throws TailraceError `not_found`
 */
export function getNamed<T extends Named>(kind: string, items: readonly T[], idOrName: string): T {
  const id = idOrName.toLowerCase();
  const found = items.find((item) => item.name === idOrName || item.id === id);
  if (found !== undefined) return found;
  throw toMissing(kind, idOrName, { items, code: 'not_found' });
}

function toMissing(
  kind: string,
  idOrName: string,
  { items, code }: { readonly items: readonly Named[]; readonly code: ErrorCode },
): TailraceError {
  const nearest = describeNearest(
    idOrName,
    items.map(({ name }) => name),
  );
  return new TailraceError(code, `no ${kind} has the UUID or name ${shorten(idOrName)}${nearest}`);
}

/** Finds a name exactly, a UUID in any letter case: definitions keep ids in lower case, and names are not ids. */
function find<T extends Named>(items: ReadonlyMap<string, T>, idOrName: string): T | undefined {
  const lower = idOrName.toLowerCase();
  const other = items.get(lower);
  return items.get(idOrName) ?? (other?.id === lower ? other : undefined);
}

function byIdAndName<T extends Named>(items: readonly T[]): Map<string, T> {
  return new Map(items.flatMap((item) => [[item.name, item] as const, [item.id, item] as const]));
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);
}
