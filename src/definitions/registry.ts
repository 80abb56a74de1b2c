import { type ErrorCode, TailraceError } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';
import type { Definitions } from './read.ts';
import type { Source } from './source.ts';

/** The definitions that are served. */
export type Registry = Readonly<ReturnType<typeof createRegistry>>;

export function createRegistry(definitions: Definitions) {
  const registry = {
    ...definitions,
    findEndpoint: (idOrName: string) => findNamed(registry.endpoints, idOrName),
    /** @throws TailraceError `endpoint_not_found` */
    getEndpoint(idOrName: string) {
      return getNamed('endpoint', registry.endpoints, idOrName, 'endpoint_not_found');
    },
    findSource: (idOrName: string) => findNamed(registry.sources, idOrName),
    /** @throws TailraceError `source_not_found` */
    getSource: (idOrName: string) => getSource(registry.sources, idOrName),
    /** @throws TailraceError `not_found` */
    getAlert: (idOrName: string) => getNamed('alert', registry.alerts, idOrName),
    /** Swaps the whole set at once, between two requests. */
    replace: (next: Definitions) => void Object.assign(registry, next),
  };
  return registry;
}

/** @throws TailraceError `source_not_found` */
export function getSource(sources: readonly Source[], idOrName: string): Source {
  const source = findNamed(sources, idOrName);
  if (source !== undefined) return source;
  const known = sources.map((one) => one.name).join(', ');
  throw new TailraceError(
    'source_not_found',
    `no source has the UUID or name ${shorten(idOrName)}; there are ${known}; each is a file of TAILRACE_SOURCES_DIR`,
  );
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
