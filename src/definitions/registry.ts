import { TailraceError } from '../errors.ts';
import type { Alert } from './alert.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import type { Endpoint } from './endpoint.ts';
import type { Definitions } from './read.ts';
import type { Source } from './source.ts';

/** The definitions that are served. `replace` swaps the whole set at once, between two requests. */
export interface Registry {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
  readonly alerts: readonly Alert[];
  readonly dashboards: readonly Dashboard[];
  findEndpoint(idOrName: string): Endpoint | undefined;
  /** @throws TailraceError `endpoint_not_found` */
  getEndpoint(idOrName: string): Endpoint;
  findSource(idOrName: string): Source | undefined;
  /** @throws TailraceError `source_not_found` */
  getSource(idOrName: string): Source;
  /** @throws TailraceError `not_found` */
  getAlert(idOrName: string): Alert;
  /** @throws TailraceError `not_found` */
  getDashboard(idOrName: string): Dashboard;
  replace(definitions: Definitions): void;
}

/** Looks definitions up by UUID, in any letter case, or by name (spec 4). */
export function createRegistry(definitions: Definitions): Registry {
  let endpoints = byIdAndName(definitions.endpoints);
  let sources = byIdAndName(definitions.sources);
  let alerts = byIdAndName(definitions.alerts ?? []);
  let dashboards = byIdAndName(definitions.dashboards ?? []);
  const registry = {
    endpoints: definitions.endpoints,
    sources: definitions.sources,
    alerts: definitions.alerts ?? [],
    dashboards: definitions.dashboards ?? [],
    findEndpoint: (idOrName: string) => find(endpoints, idOrName),
    getEndpoint(idOrName: string) {
      const endpoint = find(endpoints, idOrName);
      if (endpoint !== undefined) return endpoint;
      throw new TailraceError('endpoint_not_found', `no endpoint has the UUID or name ${shorten(idOrName)}`);
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
    getAlert(idOrName: string) {
      const alert = find(alerts, idOrName);
      if (alert !== undefined) return alert;
      throw new TailraceError('not_found', `no alert has the UUID or name ${shorten(idOrName)}`);
    },
    getDashboard(idOrName: string) {
      const dashboard = find(dashboards, idOrName);
      if (dashboard !== undefined) return dashboard;
      throw new TailraceError('not_found', `no dashboard has the UUID or name ${shorten(idOrName)}`);
    },
    replace(next: Definitions) {
      registry.endpoints = next.endpoints;
      registry.sources = next.sources;
      endpoints = byIdAndName(next.endpoints);
      sources = byIdAndName(next.sources);
      registry.alerts = next.alerts ?? [];
      alerts = byIdAndName(registry.alerts);
      registry.dashboards = next.dashboards ?? [];
      dashboards = byIdAndName(registry.dashboards);
    },
  };
  return registry;
}

/** Finds a name exactly, a UUID in any letter case: definitions keep ids in lower case, and names are not ids. */
function find<T extends { id: string }>(items: ReadonlyMap<string, T>, idOrName: string): T | undefined {
  const lower = idOrName.toLowerCase();
  const other = items.get(lower);
  return items.get(idOrName) ?? (other?.id === lower ? other : undefined);
}

function byIdAndName<T extends { id: string; name: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.flatMap((item) => [[item.name, item] as const, [item.id, item] as const]));
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);
}
