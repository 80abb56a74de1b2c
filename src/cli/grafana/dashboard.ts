import type { DashboardView } from '../../management/dashboard-view.ts';
import type { EndpointView } from '../../management/view.ts';
import { type GrafanaPanel, toGrafanaPanel } from './panel.ts';
import { DATA_SOURCE_TYPE } from './target.ts';
import { toVariables } from './variable.ts';

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
 * Writes a dashboard for Grafana, whose panels request the endpoints through its Infinity data source. Address and key are those of the
 * data source, so the file has neither.
 */
export function toGrafanaDashboard(
  dashboard: DashboardView,
  endpoints: readonly EndpointView[],
): GrafanaDashboard {
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
    const h = Math.max(UNITS_MIN, Math.round(heightPx / UNIT_PX) + 1); // 1: the title, which is part of the height in Grafana
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
