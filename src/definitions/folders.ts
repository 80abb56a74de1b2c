import { existsSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { packagePath } from '../lib/file.ts';

/** The folders that definitions are read from. Empty: no folder was named. */
export interface DefinitionFolders {
  readonly endpointsDir: string;
  readonly sourcesDir: string;
}

type Kind = keyof DefinitionFolders;

/** The settings about folders. */
export interface NamedFolders extends DefinitionFolders {
  readonly alertsDir?: string;
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
  readonly shipped: readonly Kind[];
}

/** Read if no folder is named and these exist. */
export const OWN_FOLDERS: DefinitionFolders = { endpointsDir: './endpoints', sourcesDir: './sources' };

/** Read if no folder of alerts is named and this exists; none ships with Tailrace. */
export const OWN_ALERTS_DIR = './alerts';

/** Read if no folder of dashboards is named, this exists, and the endpoints are not those of another folder. */
export const OWN_DASHBOARDS_DIR = './dashboards';

const FOLDER_NAMES = { endpointsDir: 'endpoints', sourcesDir: 'sources' } as const;
const DASHBOARDS_FOLDER = 'dashboards';
const SEARCHES_FOLDER = 'searches';
/** Endpoints for Supabase Studio, below the package. */
const STUDIO_FOLDER = 'studio/endpoints';

/** The copies of the shipped endpoints and dashboards, which saves may change. */
export type Copies = NonNullable<ReturnType<typeof findCopies>>;

/** Returns where the shipped definitions are copied before the first save; `undefined` if they are not. */
export function findCopies({
  editEndpoints,
  dataDir,
  studio,
}: Pick<NamedFolders, 'editEndpoints' | 'dataDir' | 'studio'>) {
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
  const { studio, editEndpoints, dataDir } = named;
  const copies = findCopies(named);
  const isStudios = (kind: Kind) => studio === '1' && kind === 'endpointsDir';
  // In a checkout the endpoints here are the shipped ones.
  const isOwn = (kind: Kind) =>
    existsSync(OWN_FOLDERS[kind]) &&
    !(copies !== undefined && kind === 'endpointsDir' && isPackagesHere(kind));
  const shipped = (['endpointsDir', 'sourcesDir'] as const).filter(
    (kind) => named[kind] === '' && (isStudios(kind) || !isOwn(kind)),
  );
  const dashboardsDir = findDashboards(named, shipped);
  if (copies !== undefined && shipped.includes('endpointsDir') && existsSync(copies.endpointsDir)) {
    const { endpointsDir } = copies;
    const ofCopy = isShippedDashboards(dashboardsDir) ? copies.dashboardsDir : dashboardsDir;
    return findFolders({ ...named, endpointsDir, dashboardsDir: ofCopy ?? '' });
  }
  const find = (kind: Kind) =>
    shipped.includes(kind)
      ? packagePath(isStudios(kind) ? STUDIO_FOLDER : FOLDER_NAMES[kind])
      : named[kind] || OWN_FOLDERS[kind];
  const alertsDir = named.alertsDir || (existsSync(OWN_ALERTS_DIR) ? OWN_ALERTS_DIR : '');
  return {
    ...{ studio, editEndpoints, dataDir, shipped },
    ...{ endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir') },
    ...(alertsDir !== '' && { alertsDir }),
    ...(dashboardsDir !== undefined && { dashboardsDir }),
  };
}

/**
 * Dashboards are about endpoints: those of this package are read with its endpoints, those of the working folder with
 * both.
 */
function findDashboards(named: NamedFolders, shipped: readonly Kind[]): string | undefined {
  const { dashboardsDir, endpointsDir, studio } = named;
  if (dashboardsDir) return dashboardsDir;
  // A reload names the folder that was read, even if nobody else did.
  if (endpointsDir === '' ? studio === '1' : !isWorkingFolder(endpointsDir)) return undefined;
  const isShipped = findCopies(named) !== undefined && isPackages(OWN_DASHBOARDS_DIR, DASHBOARDS_FOLDER);
  if (existsSync(OWN_DASHBOARDS_DIR) && !isShipped) return OWN_DASHBOARDS_DIR;
  return shipped.includes('endpointsDir') ? packagePath(DASHBOARDS_FOLDER) : undefined;
}

function isWorkingFolder(endpointsDir: string): boolean {
  return resolve(endpointsDir) === resolve(OWN_FOLDERS.endpointsDir);
}

function isPackages(dir: string, name: string): boolean {
  return normalize(dir) === packagePath(name);
}

function isPackagesHere(kind: Kind): boolean {
  return isPackages(OWN_FOLDERS[kind], FOLDER_NAMES[kind]);
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
  return dashboardsDir ?? (isWorkingFolder(endpointsDir) ? OWN_DASHBOARDS_DIR : undefined);
}

export function isShippedDashboards(dir: string | undefined): boolean {
  return dir === packagePath(DASHBOARDS_FOLDER);
}

/**
 * Returns the folders of the next reload. The loss of a user's folder is a fault; shipped definitions give way to a
 * folder that appears later.
 */
export function keepFolders({ shipped, dashboardsDir = '', ...read }: ReadFolders): NamedFolders {
  const names = Object.fromEntries(shipped.map((kind) => [kind, '']));
  return { ...read, ...names, dashboardsDir: isShippedDashboards(dashboardsDir) ? '' : dashboardsDir };
}

/** Returns a line for each kind of definition that was read from this package, and for dashboards that were not read. */
export function describeFolders(read: ReadFolders): string[] {
  const lines = read.shipped.flatMap((kind) => {
    if (read.studio === '1' && kind === 'endpointsDir')
      return `TAILRACE_STUDIO is 1, so the endpoints for Supabase Studio are used: ${read[kind]}`;
    if (read.studio !== '1' && isPackagesHere(kind)) return [];
    const used = `the ${FOLDER_NAMES[kind]} that ship with Tailrace are used: ${read[kind]}`;
    return `there is no folder ${OWN_FOLDERS[kind]} here, so ${used}`;
  });
  const isUnread =
    findDashboardTarget(read) === undefined &&
    existsSync(OWN_DASHBOARDS_DIR) &&
    !isPackages(OWN_DASHBOARDS_DIR, DASHBOARDS_FOLDER);
  const why = `the endpoints are those of ${read.endpointsDir}; set TAILRACE_DASHBOARDS_DIR to read it`;
  return isUnread ? [...lines, `the folder ${OWN_DASHBOARDS_DIR} is not read, since ${why}`] : lines;
}
