import { Command } from 'commander';
import { formatFault, refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry, type Registry } from '../../definitions/registry.ts';
import { InputError } from '../../errors.ts';
import { describeNearest } from '../../lib/nearest.ts';
import { toDashboardView } from '../../management/dashboards.ts';
import { toEndpointView } from '../../management/definitions.ts';
import { findMissing, verifyDashboards } from '../../verify/dashboards.ts';
import { readConfig } from '../environment.ts';
import { toGrafanaDashboard } from '../grafana/dashboard.ts';

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
