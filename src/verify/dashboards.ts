import type { Dashboard, DashboardPanel } from '../definitions/dashboard.ts';
import type { Endpoint, ResultType } from '../definitions/endpoint.ts';
import { findNamed } from '../definitions/registry.ts';
import type { FieldFault, YamlPath } from '../definitions/yaml-file.ts';
import type { Fault } from '../errors.ts';
import { findParameterFaults } from '../query/parameters.ts';

/** Checks the parameters and columns of panels. A panel without its endpoint is a warning (`findMissing`). */
export function verifyDashboards(dashboards: readonly Dashboard[], endpoints: readonly Endpoint[]): Fault[] {
  return dashboards.flatMap((dashboard) => {
    const found = listPanels(dashboard).flatMap(({ path, panel }) => {
      const endpoint = findNamed(endpoints, panel.endpoint ?? '');
      if (endpoint === undefined) return [];
      // Shared parameters and the range fill those that a panel leaves out.
      const parameters = endpoint.parameters.map((parameter) => ({ ...parameter, required: false }));
      const own = findParameterFaults(panel, { ...endpoint, parameters });
      const all = [...own, ...findColumnFaults(panel, endpoint)];
      return all.map(([at, message]): FieldFault => [[...path, ...at], message]);
    });
    const all = [...found, ...findUnusedParameters(dashboard, endpoints)];
    return all.map(([path, message]) => dashboard.fault(path, message));
  });
}

/** Finds panels whose endpoint does not exist: the page says so in their place, and shows the others. */
export function findMissing(dashboards: readonly Dashboard[], endpoints: readonly Endpoint[]): Fault[] {
  const known = endpoints.map(({ name }) => name).join(', ') || 'none';
  return dashboards.flatMap((dashboard) =>
    listPanels(dashboard).flatMap(({ path, panel: { endpoint } }) => {
      if (endpoint === undefined || findNamed(endpoints, endpoint) !== undefined) return [];
      const message = `no endpoint is called ${JSON.stringify(endpoint)}; there are ${known}`;
      return [dashboard.fault([...path, 'endpoint'], message)];
    }),
  );
}

function listPanels({ rows }: Dashboard): { readonly path: YamlPath; readonly panel: DashboardPanel }[] {
  return rows.flatMap(({ panels }, row) =>
    panels.map((panel, i) => ({ path: ['rows', row, 'panels', i], panel })),
  );
}

const NUMBER_TYPES: readonly ResultType[] = ['integer', 'number'];

function findColumnFaults({ columns, show }: DashboardPanel, endpoint: Endpoint): FieldFault[] {
  const kind = show ?? endpoint.charts[0]?.show;
  const known = endpoint.columns.map(({ name }) => name).join(', ');
  return columns.flatMap((name, i): FieldFault[] => {
    const column = endpoint.columns.find((one) => one.name === name);
    if (column === undefined)
      return [[['columns', i], `${endpoint.name} has no column "${name}"; it has ${known}`]];
    if (kind === undefined || kind === 'table' || NUMBER_TYPES.includes(column.type)) return [];
    const message = `column "${name}" is of type ${column.type}; "show: ${kind}" draws integers and numbers`;
    return [[['columns', i], message]];
  });
}

/** Shared parameters that no panel has: a typing error would silently change nothing. */
function findUnusedParameters({ parameters, rows }: Dashboard, endpoints: readonly Endpoint[]): FieldFault[] {
  const panels = rows.flatMap((row) => row.panels);
  const found = panels.map((panel) => findNamed(endpoints, panel.endpoint ?? ''));
  if (panels.some(({ endpoint }, i) => endpoint !== undefined && found[i] === undefined)) return [];
  const declared = new Set(found.flatMap((one) => one?.parameters.map(({ name }) => name) ?? []));
  return Object.keys(parameters).flatMap((name): FieldFault[] => {
    if (declared.has(name)) return [];
    const known = [...declared].join(', ') || 'none';
    return [[['parameters', name], `no endpoint of this file has a parameter "${name}"; they have ${known}`]];
  });
}
