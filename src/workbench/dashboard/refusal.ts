import type { Config } from '../../config/config.ts';
import { findCopies, findDashboardTarget, type ReadFolders } from '../../definitions/folders.ts';

interface RefusalParts {
  readonly config: Pick<Config, 'editEndpoints'>;
  readonly folders: () => ReadFolders;
}

/** Returns why dashboards cannot be saved here; `undefined` if they can. */
export function findDashboardRefusal({ config, folders }: RefusalParts): string | undefined {
  if (config.editEndpoints === '0')
    return 'this service does not write dashboards: copy the text into its file, or set TAILRACE_EDIT_ENDPOINTS=1';
  const read = folders();
  if (findDashboardTarget(read) === undefined)
    return 'no folder of dashboards is read with the endpoints of this service: set TAILRACE_DASHBOARDS_DIR';
  if (findCopies(read) !== undefined) return undefined;
  if (!read.shipped.includes('endpointsDir') || read.dashboardsDir === undefined) return undefined;
  return 'the dashboards are those that ship with Tailrace: start the service in a folder with your own endpoints, as "tailrace init" creates it';
}
