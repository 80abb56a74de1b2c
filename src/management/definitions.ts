import { LRUCache } from 'lru-cache';
import type { Dashboard, DashboardPanel } from '../definitions/dashboard.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { listSources, type SavedSearch } from '../definitions/saved-search.ts';
import { findSources, isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { type Grant, isListed, mayRead } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { formatNames } from '../query/format.ts';
import { keepsPins, OWNER } from '../query/pins.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import type { DashboardSummary, DashboardView, PanelView } from './dashboard-view.ts';
import type { EndpointView, Projects, SavedSearchView, SourceView } from './view.ts';

/**
 * Lists the endpoints that a key may know of: those it may read, and with the scope `manage` those that it may let
 * others read.
 */
export function visibleEndpoints(
  endpoints: readonly Endpoint[],
  { scopes, endpoints: listed }: Grant,
): readonly Endpoint[] {
  if (!scopes.includes('query') && !scopes.includes('manage')) return [];
  return endpoints.filter((endpoint) => isListed(listed, endpoint));
}

/**
 * Lists sources in the same way, by the right to send events to them; those that only Tailrace writes by the right to
 * read them.
 */
export function visibleSources(sources: readonly Source[], caller: Grant): readonly Source[] {
  if (!caller.scopes.includes('ingest') && !caller.scopes.includes('manage')) return [];
  return sources.filter((source) =>
    source.isInternal === true ? mayRead(caller, source) : isListed(caller.sources, source),
  );
}

/**
 * Describes an endpoint as the caller sees it: with the caller's pins. The SQL names tables and columns, so only
 * operators see it.
 * @param sources all served ones
 */
export function toEndpointView(endpoint: Endpoint, caller: Grant, sources: readonly Source[]): EndpointView {
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

/**
 * Lists what the caller may search, by the rule of `GET /api/search` (serve/resolve.ts): a key that is limited
 * to endpoints cannot search.
 */
function searchableSources(sources: readonly Source[], caller: Grant) {
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
  return parameters.map(({ name, type, control, required, description, ...parameter }) => ({
    ...{ name, type, control, required, description, default: parameter.defaultText },
    values: [...parameter.values],
    otherwise: parameter.otherwise ?? null,
    pinned: pinOf(pins, name),
    search: parameter.search ?? null,
  }));
}

/** Returns the one value of a parameter that a key may send; null: any. */
function pinOf(pins: Caller['pins'], name: string): string | null {
  return (Object.hasOwn(pins, name) ? pins[name] : undefined) ?? null;
}

export function toSourceView(source: Source): SourceView {
  const { id, name, table, description, retentionDays, columns } = source;
  return {
    ...{ id, name, table, description },
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

// More do not help in a list of suggestions.
const PROJECTS_MAX = 1_000;
const PROJECTS_AGE_MS = 30_000;
const LANE = 'projects';

type ProjectsByTable = ReadonlyMap<string, readonly string[]>;

/**
 * @param now ms since the epoch
 * @returns a function that lists the projects with events in sources of the key, sorted, up to 30 s old; for a key
 * that pins the project, only that one
 */
export function createProjects(engine: Engine, registry: Registry, now: () => number) {
  // Older ones are returned while they are read again, even if that fails.
  const projects = new LRUCache<'all', ProjectsByTable>({
    ...{ max: 1, ttl: PROJECTS_AGE_MS, ttlResolution: 0, perf: { now } },
    ...{ allowStale: true, noDeleteOnStaleGet: true, noDeleteOnFetchRejection: true },
    fetchMethod: readProjects,
  });

  /** The first projects of each table, sorted. Runs as a query in its own lane, with the limits of every query. */
  async function readProjects(): Promise<ProjectsByTable> {
    // External tables may be of any size, and need not be sorted by project.
    const own = registry.sources.filter(isManaged);
    const tables = own.map(
      ({ table }) =>
        sql`SELECT DISTINCT ${table} AS source, project FROM ${identifier(table)} WHERE project != ''`,
    );
    if (tables.length === 0) return new Map();
    const statement = sql`SELECT source, project FROM (${join(tables, ' UNION ALL ')})
      ORDER BY source, project LIMIT ${PROJECTS_MAX + 1} BY source`;
    const { bytes } = await engine.query(statement.text, {}, { format: 'JSONEachRow', lane: LANE });
    const lines = bytes.toString().split('\n').filter(Boolean);
    const rows = lines.map((line) => JSON.parse(line) as { source: string; project: string }); // the columns of the SELECT
    const byTable = Map.groupBy(rows, ({ source }) => source);
    return new Map([...byTable].map(([table, of]) => [table, of.map(({ project }) => project)]));
  }

  return async ({ pins, sources }: Caller): Promise<Projects> => {
    const pinned = pins[OWNER];
    if (pinned !== undefined) return { result: [pinned], complete: true };
    const byTable = await projects.fetch('all');
    const seen = registry.sources.filter((source) => isListed(sources, source));
    const names = seen.map(({ table }) => byTable?.get(table) ?? []);
    const all = [...new Set(names.flat())].toSorted();
    const complete = all.length <= PROJECTS_MAX && names.every((one) => one.length <= PROJECTS_MAX);
    return { result: all.slice(0, PROJECTS_MAX), complete };
  };
}

/** Lists the saved searches that the caller may run, by title. */
export function listSavedSearches(
  { registry }: { readonly registry: Pick<Registry, 'searches' | 'findSource'> },
  caller: Grant,
): { result: SavedSearchView[] } {
  const mayRun = (saved: SavedSearch) => {
    const { project } = saved.search;
    const pinned = caller.pins['project'];
    const sources = listSources(saved).map(registry.findSource);
    return (
      caller.endpoints === undefined &&
      sources.every((one) => one !== undefined && mayRead(caller, one)) &&
      (project === undefined || pinned === undefined || project === pinned)
    );
  };
  const result = registry.searches
    .filter(mayRun)
    .map(({ id, name, title, description, search }) => ({ id, name, title, description, search }))
    .toSorted((a, b) => a.title.localeCompare(b.title));
  return { result };
}

export interface DashboardParts {
  readonly registry: Pick<Registry, 'dashboards' | 'findEndpoint'>;
}

/** The limits of a caller. */
type Reach = Pick<Caller, 'endpoints' | 'pins'>;

/** Lists the dashboards of which the caller sees a panel, by title. */
export function listDashboards(parts: DashboardParts, caller: Reach): { result: DashboardSummary[] } {
  const shown = parts.registry.dashboards.flatMap((dashboard) => {
    const { id, name, title, description } = dashboard;
    const panels = visibleRows(parts, caller, dashboard).flatMap((row) => row.panels);
    return panels.length === 0 ? [] : [{ id, name, title, description, panels: panels.length }];
  });
  return { result: shown.toSorted((a, b) => a.title.localeCompare(b.title)) };
}

/**
 * Describes a dashboard as the caller sees it: the panels of endpoints that it may call.
 * @throws TailraceError `not_found`
 */
export function readDashboard(
  parts: DashboardParts,
  caller: Reach,
  { name }: { readonly name: string },
): DashboardView {
  const visible = parts.registry.dashboards.filter((one) => visibleRows(parts, caller, one).length > 0);
  return toDashboardView(parts, caller, getNamed('dashboard', visible, name));
}

export function toDashboardView(parts: DashboardParts, caller: Reach, dashboard: Dashboard): DashboardView {
  const { id, name, title, description, rangeSeconds, parameters } = dashboard;
  return {
    ...{ id, name, title, description, range_seconds: rangeSeconds },
    parameters: Object.entries(parameters).map(([parameter, value]) => ({
      name: parameter,
      default: value,
      pinned: pinOf(caller.pins, parameter),
    })),
    rows: visibleRows(parts, caller, dashboard),
  };
}

/** Returns the rows with the panels that the caller sees; no rows if only texts are left, which describe other panels. */
function visibleRows(
  parts: DashboardParts,
  caller: Reach,
  { rows, parameters }: Dashboard,
): DashboardView['rows'] {
  const shown = rows.flatMap(({ heightPx, panels }) => {
    const visible = panels.filter((panel) => isVisible(parts, caller, { panel, shared: parameters }));
    const views = visible.map((panel) => toPanelView(parts, panel));
    return views.length === 0 ? [] : [{ height_px: heightPx, panels: views }];
  });
  return shown.some(({ panels }) => panels.some(({ endpoint }) => endpoint !== null)) ? shown : [];
}

/** Whether the caller may call the endpoint of a panel with its parameters. */
function isVisible(
  { registry }: DashboardParts,
  caller: Reach,
  { panel, shared }: { panel: DashboardPanel; shared: Dashboard['parameters'] },
): boolean {
  if (panel.endpoint === undefined) return true;
  const endpoint = registry.findEndpoint(panel.endpoint);
  // A limited key learns nothing of an endpoint that it could not call.
  if (endpoint === undefined) return caller.endpoints === undefined;
  if (!isListed(caller.endpoints, endpoint)) return false;
  const filled = Object.entries(shared).filter(([name]) => !Object.hasOwn(caller.pins, name));
  const values = { ...Object.fromEntries(filled), ...panel.parameters };
  // Parameters of the page need not be those of the endpoint.
  return keepsPins({ ...endpoint, strict: false }, caller.pins, values);
}

function toPanelView({ registry }: DashboardParts, panel: DashboardPanel): PanelView {
  const { parameters, show, title, columns, unit, text } = panel;
  const endpoint = panel.endpoint === undefined ? undefined : registry.findEndpoint(panel.endpoint);
  return {
    endpoint: endpoint?.name ?? panel.endpoint ?? null,
    missing: panel.endpoint !== undefined && endpoint === undefined,
    parameters,
    ...{ show: show ?? null, title: title ?? null, columns: [...columns] },
    ...{ unit: unit ?? null, text: text ?? null },
  };
}
