import type { Endpoint } from '../definitions/endpoint.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import { findSources, isManaged, type Source } from '../definitions/source.ts';
import { type Grant, isListed, mayRead } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { formatNames } from '../query/format.ts';
import type { EndpointView, Self, SourceView } from './view.ts';

type Reach = Pick<Grant, 'scopes' | 'endpoints' | 'sources'>;
type Reader = Reach & Pick<Grant, 'pins'>;

/** Lists the endpoints that a key may know of: those it may read, and with the scope `manage` those that it may let others read. */
export function visibleEndpoints(
  endpoints: readonly Endpoint[],
  { scopes, endpoints: listed }: Reach,
): readonly Endpoint[] {
  if (!scopes.includes('query') && !scopes.includes('manage')) return [];
  return endpoints.filter((endpoint) => isListed(listed, endpoint));
}

/** Lists sources in the same way, by the right to send events to them; those that only Tailrace writes by the right to read them. */
export function visibleSources(sources: readonly Source[], caller: Reader): readonly Source[] {
  if (!caller.scopes.includes('ingest') && !caller.scopes.includes('manage')) return [];
  return sources.filter((source) =>
    source.isInternal === true ? mayRead(caller, source) : isListed(caller.sources, source),
  );
}

/** @param version of Tailrace */
export function toSelf({ keyId, token, scopes, endpoints, sources, pins }: Caller, version: string): Self {
  return {
    id: keyId,
    token: token !== undefined,
    scopes: [...scopes],
    endpoints: endpoints === undefined ? null : [...endpoints],
    sources: sources === undefined ? null : [...sources],
    pins,
    version,
  };
}

/**
 * Describes an endpoint as the caller sees it: with the caller's pins. The SQL names tables and columns, so only operators see it.
 *
 * @param sources all served ones
 */
export function toEndpointView(endpoint: Endpoint, caller: Reader, sources: readonly Source[]): EndpointView {
  const { scopes, pins } = caller;
  const { id, name, description, maxRows, cachingSeconds, warmingSeconds, sandboxing, pages } = endpoint;
  return {
    id,
    name,
    description,
    max_rows: maxRows,
    caching_seconds: cachingSeconds ?? null,
    warming_seconds: warmingSeconds ?? null,
    query_sandboxing: sandboxing,
    live_tail: pages !== undefined && hasNewestFirst(pages),
    parameters: toParameterViews(endpoint, pins),
    formats: formatNames(endpoint),
    columns: endpoint.columns.map((column) => ({ ...column, search: column.search ?? null })),
    charts: toChartViews(endpoint),
    sources: findSources(endpoint.sql, searchableSources(sources, caller)).map(({ name }) => name),
    sql: scopes.includes('manage') ? endpoint.sql : null,
  };
}

/** Lists what the caller may search, by the rule of `GET /api/search` (serve/resolve-search.ts): a key that is limited to endpoints cannot search. */
function searchableSources(sources: readonly Source[], caller: Reader) {
  if (!caller.scopes.includes('query') || caller.endpoints !== undefined) return [];
  return sources.filter((source) => mayRead(caller, source));
}

export function toChartViews({ charts }: Pick<Endpoint, 'charts'>): EndpointView['charts'] {
  return charts.map(({ show, title, time, series, values, unit, band, bad, top, thresholds }) => ({
    ...{ show, title: title ?? null, time: time ?? null, series: series ?? null, values: [...values] },
    ...{ unit: unit ?? null, band: [...band], bad: [...bad], top: top ?? null },
    thresholds: thresholds.map(({ label, ...threshold }) => ({ ...threshold, label: label ?? null })),
  }));
}

/** @param pins of the caller */
export function toParameterViews(
  { parameters }: Pick<Endpoint, 'parameters'>,
  pins: Caller['pins'],
): EndpointView['parameters'] {
  return parameters.map((parameter) => ({
    name: parameter.name,
    type: parameter.type,
    control: parameter.control,
    required: parameter.required,
    description: parameter.description,
    default: parameter.defaultText,
    values: [...parameter.values],
    otherwise: parameter.otherwise ?? null,
    pinned: (Object.hasOwn(pins, parameter.name) ? pins[parameter.name] : undefined) ?? null,
    search: parameter.search ?? null,
  }));
}

export function toSourceView(source: Source): SourceView {
  const { id, name, table, description, retentionDays, columns } = source;
  return {
    id,
    name,
    table,
    description,
    managed: isManaged(source),
    internal: source.isInternal === true,
    protected: source.isProtected === true,
    retention_days: isManaged(source) ? retentionDays : null,
    columns: columns.map(({ name, type, path, otherPaths, description }) => ({
      ...{ name, type, path: [...path], description },
      other_paths: otherPaths.map((one) => [...one]),
    })),
  };
}
