import type { Dashboard, DashboardPanel } from '../definitions/dashboard.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { keepsPins } from '../query/pins.ts';
import type { DashboardSummary, DashboardView, PanelView } from './dashboard-view.ts';
import { pinOf } from './definitions.ts';

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
 *
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

/** Rows with the panels that the caller sees. Texts are about the others: without any, there are none. */
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
