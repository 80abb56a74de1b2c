import { existsSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { packagePath } from '../lib/file.ts';

/** The folders that definitions are read from. Empty: no folder was named. */
export interface DefinitionFolders {
  readonly endpointsDir: string;
  readonly sourcesDir: string;
}

/** The settings about folders. */
export interface NamedFolders extends DefinitionFolders {
  /** The folder of the alerts. */
  readonly alertsDir?: string;
  /** The folder of the dashboards. */
  readonly dashboardsDir?: string;
  /** `1`: the endpoints for Supabase Studio are served, unless a folder is named. */
  readonly studio?: '0' | '1' | undefined;
  /** `copy`: see `findCopies`. */
  readonly editEndpoints?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** The folders of one reading. */
export interface ReadFolders extends NamedFolders {
  /** Folders that were neither named nor in the working folder: those of this package were read instead. */
  readonly shipped: readonly (keyof DefinitionFolders)[];
}

/** Read if no folder is named and these exist. */
export const OWN_FOLDERS: DefinitionFolders = { endpointsDir: './endpoints', sourcesDir: './sources' };

/** Read if no folder of alerts is named and this exists; none ships with Tailrace. */
export const OWN_ALERTS_DIR = './alerts';

/** Read if no folder of dashboards is named, this exists, and the endpoints are not those of another folder. */
export const OWN_DASHBOARDS_DIR = './dashboards';
const DASHBOARDS_FOLDER = 'dashboards';
const SEARCHES_FOLDER = 'searches';

const FOLDER_NAMES = { endpointsDir: 'endpoints', sourcesDir: 'sources' } as const;
/** Endpoints for Supabase Studio, below the package. */
const STUDIO_FOLDER = 'studio/endpoints';
const KINDS = ['endpointsDir', 'sourcesDir'] as const;

/** The copies of the shipped endpoints and dashboards, which saves may change. */
export interface Copies {
  readonly dir: string;
  readonly endpointsDir: string;
  readonly dashboardsDir: string;
}

/** Returns where the shipped definitions are copied before the first save; `undefined` if they are not. */
export function findCopies({
  editEndpoints,
  dataDir,
  studio,
}: Pick<NamedFolders, 'editEndpoints' | 'dataDir' | 'studio'>): Copies | undefined {
  if (editEndpoints !== 'copy' || dataDir === undefined || studio === '1') return undefined;
  const dir = join(dataDir, 'definitions');
  return { dir, endpointsDir: join(dir, 'endpoints'), dashboardsDir: join(dir, DASHBOARDS_FOLDER) };
}

/** Whether the shipped definitions are served, and a save has to copy them before. */
export function needsCopy(read: ReadFolders): boolean {
  return findCopies(read) !== undefined && read.shipped.includes('endpointsDir');
}

/**
 * Chooses the named folder, even if it is missing, which reading reports; else that in the working folder; else that
 * shipped with Tailrace, or its copy.
 */
export function findFolders(named: NamedFolders): ReadFolders {
  const copies = findCopies(named);
  // In a checkout the folder here is the shipped one.
  const isOwn = (kind: keyof DefinitionFolders) =>
    existsSync(OWN_FOLDERS[kind]) &&
    !(copies !== undefined && kind === 'endpointsDir' && isPackages(OWN_FOLDERS[kind], FOLDER_NAMES[kind]));
  const isStudios = (kind: keyof DefinitionFolders) => named.studio === '1' && kind === 'endpointsDir';
  const unnamed = KINDS.filter((kind) => named[kind] === '' && (isStudios(kind) || !isOwn(kind)));
  if (copies !== undefined && unnamed.includes('endpointsDir') && existsSync(copies.endpointsDir)) {
    const { dashboardsDir = '' } = findDashboards(named, unnamed);
    return findFolders({
      ...{ ...named, endpointsDir: copies.endpointsDir },
      dashboardsDir: isShippedDashboards(dashboardsDir) ? copies.dashboardsDir : dashboardsDir,
    });
  }
  const find = (kind: keyof DefinitionFolders) => {
    if (!unnamed.includes(kind)) return named[kind] || OWN_FOLDERS[kind];
    return packagePath(isStudios(kind) ? STUDIO_FOLDER : FOLDER_NAMES[kind]);
  };
  const { studio, editEndpoints, dataDir } = named;
  const alertsDir = named.alertsDir || (existsSync(OWN_ALERTS_DIR) ? OWN_ALERTS_DIR : '');
  return {
    ...{ studio, editEndpoints, dataDir },
    ...{ endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir'), shipped: unnamed },
    ...(alertsDir !== '' && { alertsDir }),
    ...findDashboards(named, unnamed),
  };
}

/**
 * Dashboards are about endpoints: those of this package are read with its endpoints, those of the working folder with
 * both.
 */
function findDashboards(
  { dashboardsDir, endpointsDir, studio, ...named }: NamedFolders,
  shipped: readonly (keyof DefinitionFolders)[],
): Pick<NamedFolders, 'dashboardsDir'> {
  if (dashboardsDir) return { dashboardsDir };
  // A reload names the folder that was read, even if nobody else did.
  if (endpointsDir === '' ? studio === '1' : !isWorkingFolders(endpointsDir)) return {};
  const isShipped = findCopies(named) !== undefined && isPackages(OWN_DASHBOARDS_DIR, DASHBOARDS_FOLDER);
  if (existsSync(OWN_DASHBOARDS_DIR) && !isShipped) return { dashboardsDir: OWN_DASHBOARDS_DIR };
  return shipped.includes('endpointsDir') ? { dashboardsDir: packagePath(DASHBOARDS_FOLDER) } : {};
}

function isWorkingFolders(endpointsDir: string): boolean {
  return resolve(endpointsDir) === resolve(OWN_FOLDERS.endpointsDir);
}

/**
 * Returns the folder of a team's searches: beside that of the endpoints; beside shipped ones, in the working folder,
 * where it stays once those are copied.
 */
export function findSearchesDir({
  endpointsDir,
  shipped,
  ...named
}: Pick<ReadFolders, 'endpointsDir' | 'shipped' | 'editEndpoints' | 'dataDir' | 'studio'>): string {
  if (shipped.includes('endpointsDir')) return SEARCHES_FOLDER;
  const beside = join(dirname(endpointsDir), SEARCHES_FOLDER);
  const isCopy = findCopies(named)?.endpointsDir === endpointsDir;
  return isCopy && existsSync(SEARCHES_FOLDER) && !existsSync(beside) ? SEARCHES_FOLDER : beside;
}

/** Returns the folder that a new dashboard is written to; `undefined` if none would be read. */
export function findDashboardTarget({ dashboardsDir, endpointsDir }: ReadFolders): string | undefined {
  return dashboardsDir ?? (isWorkingFolders(endpointsDir) ? OWN_DASHBOARDS_DIR : undefined);
}

export function isShippedDashboards(dir: string | undefined): boolean {
  return dir === packagePath(DASHBOARDS_FOLDER);
}

function isPackages(dir: string, name: string): boolean {
  return normalize(dir) === packagePath(name);
}

/**
 * Returns the folders of the next reload. The loss of a user's folder is a fault; shipped definitions give way to a
 * folder that appears later.
 */
export function keepFolders(read: ReadFolders): NamedFolders {
  const keep = (kind: keyof DefinitionFolders) => (read.shipped.includes(kind) ? '' : read[kind]);
  const { shipped: _, dashboardsDir, ...others } = read;
  return {
    ...others,
    ...{ endpointsDir: keep('endpointsDir'), sourcesDir: keep('sourcesDir') },
    ...(dashboardsDir !== undefined && !isShippedDashboards(dashboardsDir) && { dashboardsDir }),
  };
}

/** Returns a line for each kind of definition that was read from this package, and for dashboards that were not read. */
export function describeFolders(read: ReadFolders): string[] {
  const isHere = (kind: keyof DefinitionFolders) => isPackages(OWN_FOLDERS[kind], FOLDER_NAMES[kind]);
  const noted = read.shipped.filter((kind) => read.studio === '1' || !isHere(kind));
  const shipped = noted.map((kind) =>
    read.studio === '1' && kind === 'endpointsDir'
      ? `TAILRACE_STUDIO is 1, so the endpoints for Supabase Studio are used: ${read[kind]}`
      : `there is no folder ${OWN_FOLDERS[kind]} here, so the ${FOLDER_NAMES[kind]} that ship with ` +
        `Tailrace are used: ${read[kind]}`,
  );
  const isUnread =
    findDashboardTarget(read) === undefined &&
    existsSync(OWN_DASHBOARDS_DIR) &&
    !isPackages(OWN_DASHBOARDS_DIR, DASHBOARDS_FOLDER);
  if (!isUnread) return shipped;
  return [
    ...shipped,
    `the folder ${OWN_DASHBOARDS_DIR} is not read, since the endpoints are those of ` +
      `${read.endpointsDir}; set TAILRACE_DASHBOARDS_DIR to read it`,
  ];
}
