import { Command } from 'commander';
import { formatFault, refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry, type Registry } from '../../definitions/registry.ts';
import { InputError } from '../../errors.ts';
import { describeNearest } from '../../lib/nearest.ts';
import type { DashboardView } from '../../management/dashboard-view.ts';
import { toDashboardView } from '../../management/dashboards.ts';
import { toEndpointView } from '../../management/definitions.ts';
import type { EndpointView } from '../../management/view.ts';
import { findMissing, verifyDashboards } from '../../verify/dashboards.ts';
import { readConfig } from '../environment.ts';
import { type GrafanaPanel, toGrafanaPanel } from '../grafana/panel.ts';
import { DATA_SOURCE_TYPE, toVariables } from '../grafana/target.ts';

export function dashboardsCommand(): Command {
  const dashboards = new Command('dashboards').description('Take dashboards to Grafana.');
  dashboards
    .command('export')
    .description("Print a dashboard as JSON for Grafana's import.")
    .argument('<name>', 'name or UUID of the dashboard')
    .action(printGrafana);
  return dashboards;
}

/** Whoever has the files sees every panel. */
const OPERATOR = { scopes: ['query' as const], endpoints: undefined, pins: {} };

async function printGrafana(name: string): Promise<void> {
  const config = readConfig();
  const { definitions, faults } = await readDefinitions(config);
  const { endpoints, sources, dashboards = [] } = definitions;
  refuseFaults([...faults, ...verifyDashboards(dashboards, endpoints)]);
  const registry = createRegistry(definitions);
  const dashboard = findDashboard(registry, name);
  for (const warning of findMissing([dashboard], endpoints))
    process.stderr.write(`warning: ${formatFault(warning)}\n`);
  const view = toDashboardView({ registry }, OPERATOR, dashboard);
  const exported = toGrafanaDashboard(
    view,
    endpoints.map((one) => toEndpointView(one, OPERATOR, sources)),
  );
  process.stdout.write(`${JSON.stringify(exported, undefined, 2)}\n`);
}

function findDashboard(registry: Registry, name: string) {
  const names = registry.dashboards.map((one) => one.name);
  try {
    return registry.getDashboard(name);
  } catch (error) {
    const known = names.length === 0 ? 'none; see TAILRACE_DASHBOARDS_DIR' : names.join(', ');
    const right = describeNearest(name, names) || `; there are ${known}`;
    throw new InputError([`no dashboard has the UUID or name ${JSON.stringify(name)}${right}`], {
      cause: error,
    });
  }
}

/** The part of Grafana's dashboard JSON that Tailrace writes. */
export interface GrafanaDashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly graphTooltip: number;
  readonly time: { readonly from: string; readonly to: string };
  readonly templating: { readonly list: readonly object[] };
  readonly annotations: { readonly list: readonly object[] };
  readonly panels: readonly GrafanaPanel[];
}

/** The format of Grafana 10. Later versions migrate it when they import it. */
const SCHEMA_VERSION = 38;
const SHARED_CROSSHAIR = 1;

/**
 * Writes a dashboard for Grafana, whose panels request the endpoints through its Infinity data source. Address and key
 * are those of the data source, so the file has neither.
 */
function toGrafanaDashboard(dashboard: DashboardView, endpoints: readonly EndpointView[]): GrafanaDashboard {
  const { id, title, description, range_seconds: seconds } = dashboard;
  return {
    ...{ uid: id, title, description, tags: ['tailrace'] },
    ...{ schemaVersion: SCHEMA_VERSION, editable: true, graphTooltip: SHARED_CROSSHAIR },
    time: { from: `now-${formatRange(seconds)}`, to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: DATA_SOURCE_TYPE },
        ...toVariables(dashboard, endpoints),
      ],
    },
    annotations: { list: [] },
    panels: toPanels(dashboard, endpoints),
  };
}

const COLUMNS = 24;
// A unit of Grafana's grid, with the gap after it.
const UNIT_PX = 38;
const UNITS_MIN = 3;

function toPanels(dashboard: DashboardView, endpoints: readonly EndpointView[]): GrafanaPanel[] {
  let y = 0;
  let id = 0;
  return dashboard.rows.flatMap(({ height_px: heightPx, panels }) => {
    // 1: the title, which is part of the height in Grafana.
    const h = Math.max(UNITS_MIN, Math.round(heightPx / UNIT_PX) + 1);
    const top = y;
    y += h;
    const startOf = (i: number) => Math.round((i * COLUMNS) / panels.length);
    return panels.map((panel, i) =>
      toGrafanaPanel({
        ...{ panel, dashboard, id: ++id },
        endpoint: endpoints.find(({ name }) => name === panel.endpoint),
        gridPos: { x: startOf(i), y: top, w: startOf(i + 1) - startOf(i), h },
      }),
    );
  });
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/** `24h` rather than `1d`: Grafana knows it as "Last 24 hours". */
function formatRange(seconds: number): string {
  if (seconds > DAY_SECONDS && seconds % DAY_SECONDS === 0) return `${seconds / DAY_SECONDS}d`;
  return seconds % HOUR_SECONDS === 0 ? `${seconds / HOUR_SECONDS}h` : `${Math.round(seconds / 60)}m`;
}
