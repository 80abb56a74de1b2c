import type { Dashboard, DashboardPanel } from '../definitions/dashboard.ts';
import type { Endpoint, ResultType } from '../definitions/endpoint.ts';
import { findNamed } from '../definitions/registry.ts';
import type { YamlPath } from '../definitions/yaml-file.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { findUndeclared, parseParameters } from '../query/parameters.ts';

type Found = readonly [YamlPath, string];

/**
 * Checks what panels say about their endpoints: parameters and columns. A panel without its endpoint is a warning
 * (`findMissing`).
 */
export function verifyDashboards(dashboards: readonly Dashboard[], endpoints: readonly Endpoint[]): Fault[] {
  return dashboards.flatMap((dashboard) => {
    const found = listPanels(dashboard).flatMap(({ path, panel }) => {
      const endpoint = findNamed(endpoints, panel.endpoint ?? '');
      if (endpoint === undefined) return [];
      return [...findParameterFaults(panel, endpoint), ...findColumnFaults(panel, endpoint)].map(
        ([at, message]): Found => [[...path, ...at], message],
      );
    });
    return [...found, ...findUnusedParameters(dashboard, endpoints)].map(([path, message]) =>
      dashboard.fault(path, message),
    );
  });
}

/** Finds panels whose endpoint does not exist: the page says so in their place, and shows the others. */
export function findMissing(dashboards: readonly Dashboard[], endpoints: readonly Endpoint[]): Fault[] {
  const known = endpoints.map(({ name }) => name).join(', ') || 'none';
  return dashboards.flatMap((dashboard) =>
    listPanels(dashboard).flatMap(({ path, panel }) =>
      panel.endpoint === undefined || findNamed(endpoints, panel.endpoint ?? '') !== undefined
        ? []
        : [
            dashboard.fault(
              [...path, 'endpoint'],
              `no endpoint is called ${JSON.stringify(panel.endpoint)}; there are ${known}`,
            ),
          ],
    ),
  );
}

function listPanels({ rows }: Dashboard): { readonly path: YamlPath; readonly panel: DashboardPanel }[] {
  return rows.flatMap(({ panels }, row) =>
    panels.map((panel, i) => ({ path: ['rows', row, 'panels', i], panel })),
  );
}

function findParameterFaults({ parameters }: DashboardPanel, endpoint: Endpoint): Found[] {
  const known = endpoint.parameters.map(({ name }) => name);
  const unknown = findUndeclared(known, parameters).map(
    (name): Found => [
      ['parameters', name],
      `${endpoint.name} has no parameter "${name}"; it has ${known.join(', ') || 'none'}`,
    ],
  );
  // Shared parameters and the range fill those that a panel leaves out.
  const optional = endpoint.parameters.map((parameter) => ({ ...parameter, required: false }));
  try {
    parseParameters(
      { ...endpoint, parameters: optional, strict: false },
      parameters,
      Number.POSITIVE_INFINITY,
    );
    return unknown;
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const wrong = error.errors.map(
      ({ parameter, message }): Found => [['parameters', parameter], `"${parameter}" ${message}`],
    );
    return [...unknown, ...wrong];
  }
}

const NUMBER_TYPES: readonly ResultType[] = ['integer', 'number'];

function findColumnFaults({ columns, show }: DashboardPanel, endpoint: Endpoint): Found[] {
  const kind = show ?? endpoint.charts[0]?.show;
  const known = endpoint.columns.map(({ name }) => name).join(', ');
  return columns.flatMap((name, i): Found[] => {
    const column = endpoint.columns.find((one) => one.name === name);
    if (column === undefined)
      return [[['columns', i], `${endpoint.name} has no column "${name}"; it has ${known}`]];
    if (kind === undefined || kind === 'table' || NUMBER_TYPES.includes(column.type)) return [];
    const message = `column "${name}" is of type ${column.type}; "show: ${kind}" draws integers and numbers`;
    return [[['columns', i], message]];
  });
}

/** Shared parameters that no panel has: a typing error would silently change nothing. */
function findUnusedParameters({ parameters, rows }: Dashboard, endpoints: readonly Endpoint[]): Found[] {
  const panels = rows.flatMap((row) => row.panels);
  const found = panels.map((panel) => findNamed(endpoints, panel.endpoint ?? ''));
  if (panels.some(({ endpoint }, i) => endpoint !== undefined && found[i] === undefined)) return [];
  const declared = new Set(found.flatMap((one) => one?.parameters.map(({ name }) => name) ?? []));
  return Object.keys(parameters).flatMap((name): Found[] => {
    if (declared.has(name)) return [];
    const known = [...declared].join(', ') || 'none';
    return [[['parameters', name], `no endpoint of this file has a parameter "${name}"; they have ${known}`]];
  });
}
