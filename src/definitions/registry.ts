import { TailraceError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';
import type { Definitions } from './read.ts';
import type { Source } from './source.ts';

/** The definitions being served. `replace` swaps the whole set between two requests; there is never half of one. */
export interface Registry {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
  findEndpoint(idOrName: string): Endpoint | undefined;
  /** @throws TailraceError `endpoint_not_found` */
  getEndpoint(idOrName: string): Endpoint;
  findSource(idOrName: string): Source | undefined;
  /** @throws TailraceError `source_not_found` */
  getSource(idOrName: string): Source;
  replace(definitions: Definitions): void;
}

/** By UUID (in any letter case) or by name; both forms address the same definition (spec 4). */
export function createRegistry(definitions: Definitions): Registry {
  let current = definitions;
  let endpoints = byIdAndName(definitions.endpoints);
  let sources = byIdAndName(definitions.sources);
  return {
    get endpoints() {
      return current.endpoints;
    },
    get sources() {
      return current.sources;
    },
    findEndpoint: (idOrName) => endpoints.get(idOrName) ?? endpoints.get(idOrName.toLowerCase()),
    getEndpoint(idOrName) {
      const endpoint = this.findEndpoint(idOrName);
      if (endpoint !== undefined) return endpoint;
      throw new TailraceError('endpoint_not_found', `no endpoint has the UUID or name ${shorten(idOrName)}`);
    },
    findSource: (idOrName) => sources.get(idOrName) ?? sources.get(idOrName.toLowerCase()),
    getSource(idOrName) {
      const source = this.findSource(idOrName);
      if (source !== undefined) return source;
      const known = current.sources.map((one) => one.name).join(', ');
      throw new TailraceError(
        'source_not_found',
        `no source has the UUID or name ${shorten(idOrName)}; there are ${known}`,
      );
    },
    replace(next) {
      current = next;
      endpoints = byIdAndName(next.endpoints);
      sources = byIdAndName(next.sources);
    },
  };
}

function byIdAndName<T extends { id: string; name: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.flatMap((item) => [[item.name, item] as const, [item.id, item] as const]));
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);
}
