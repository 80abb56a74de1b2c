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

export function createRegistry(definitions: Definitions): Registry {
  const registry = {
    ...listAll(definitions),
    findEndpoint: (idOrName: string) => findNamed(registry.endpoints, idOrName),
    getEndpoint(idOrName: string) {
      return getNamed('endpoint', registry.endpoints, idOrName, 'endpoint_not_found');
    },
    findSource: (idOrName: string) => findNamed(registry.sources, idOrName),
    getSource(idOrName: string) {
      const source = findNamed(registry.sources, idOrName);
      if (source !== undefined) return source;
      const known = registry.sources.map((one) => one.name).join(', ');
      throw new TailraceError(
        'source_not_found',
        `no source has the UUID or name ${shorten(idOrName)}; there are ${known}; each is a file of TAILRACE_SOURCES_DIR`,
      );
    },
    getAlert: (idOrName: string) => getNamed('alert', registry.alerts, idOrName),
    replace: (next: Definitions) => void Object.assign(registry, listAll(next)),
  };
  return registry;
}

function listAll({ endpoints, sources, alerts = [], dashboards = [], searches = [] }: Definitions) {
  return { endpoints, sources, alerts, dashboards, searches };
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Finds a definition by UUID, in any letter case, or by name (spec 4). Definitions keep ids in lower case. */
export function findNamed<T extends Named>(items: readonly T[], idOrName: string): T | undefined {
  const id = idOrName.toLowerCase();
  return items.find((item) => item.name === idOrName || item.id === id);
}

/**
 * Returns the definition that a request names, of those that its caller may know.
 * @throws TailraceError `code`
 */
export function getNamed<T extends Named>(
  kind: string,
  items: readonly T[],
  idOrName: string,
  code: ErrorCode = 'not_found',
): T {
  const found = findNamed(items, idOrName);
  if (found !== undefined) return found;
  const nearest = describeNearest(
    idOrName,
    items.map(({ name }) => name),
  );
  throw new TailraceError(code, `no ${kind} has the UUID or name ${shorten(idOrName)}${nearest}`);
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);
}
