import type { Config } from '../config/config.ts';
import { checkDashboard, createDashboard, type Dashboard } from '../definitions/dashboard.ts';
import { findDashboardTarget, OWN_DASHBOARDS_DIR } from '../definitions/folders.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Fault } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import type { DashboardCheck } from '../management/dashboard-view.ts';
import { toDashboardView } from '../management/dashboards.ts';
import { findMissing, verifyDashboards } from '../verify/dashboards.ts';
import {
  checkText,
  type FileKind,
  readDefinitionFile,
  type SaveFileParts,
  type SaveFileRequest,
  saveDefinitionFile,
} from './definition-file.ts';
import { toDraftError } from './draft.ts';
import { findDashboardRefusal } from './workbench.ts';

const DASHBOARD_FILE = 'dashboard.yaml';

export interface SaveDashboardParts extends SaveFileParts {
  readonly config: Pick<Config, 'editEndpoints'>;
  readonly registry: Pick<Registry, 'endpoints' | 'dashboards' | 'getDashboard' | 'findEndpoint'>;
}

function kindOf(parts: SaveDashboardParts): FileKind {
  return {
    ...{
      noun: 'dashboard',
      file: DASHBOARD_FILE,
      known: () => parts.registry.dashboards,
    },
    dirOf: (read) => findDashboardTarget(read) ?? OWN_DASHBOARDS_DIR, // without one the save has been rejected before
    check: (definition) => check(parts, definition),
    refusal: () => findDashboardRefusal(parts),
  };
}

/** Checks the text of a dashboard as files are checked, and that each endpoint exists. It may lack `id`. */
export function checkDashboardDraft(
  parts: SaveDashboardParts,
  definition: string,
  caller: Caller,
): DashboardCheck {
  const read: Dashboard[] = [];
  const faults = check(parts, definition, (dashboard) => read.push(dashboard));
  const [dashboard] = read;
  return {
    errors: faults.map(toDraftError),
    dashboard: dashboard === undefined ? null : toDashboardView(parts, caller, dashboard),
  };
}

/** @param onRead gets the dashboard if it can be read */
function check(
  { registry: { endpoints } }: SaveDashboardParts,
  definition: string,
  onRead?: (dashboard: Dashboard) => void,
): readonly Fault[] {
  return checkText(DASHBOARD_FILE, definition, (file) => {
    const faults = checkDashboard(file);
    if (faults.length > 0) return faults;
    const dashboard = createDashboard(file);
    onRead?.(dashboard);
    return [...verifyDashboards([dashboard], endpoints), ...findMissing([dashboard], endpoints)];
  });
}

/** Reads the present file of a dashboard, which may be newer than the served one. @throws TailraceError `not_found` */
export function readDashboardFile(parts: SaveDashboardParts, idOrName: string) {
  return readDefinitionFile(kindOf(parts), parts.registry.getDashboard(idOrName));
}

/** Writes the file of a dashboard and has it served. @throws as `saveDefinitionFile` */
export function saveDashboard(
  parts: SaveDashboardParts,
  request: SaveFileRequest,
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
) {
  return saveDefinitionFile(parts, { ...request, kind: kindOf(parts) }, caller);
}
