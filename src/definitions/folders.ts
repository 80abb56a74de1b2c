import { existsSync } from 'node:fs';
import { packagePath } from '../lib/package-path.ts';

/** The folders that definitions are read from. Empty: no folder was named. */
export interface DefinitionFolders {
  readonly endpointsDir: string;
  readonly sourcesDir: string;
}

/** The settings about folders. */
export interface NamedFolders extends DefinitionFolders {
  /** The folder of the alerts. */
  readonly alertsDir?: string;
  /** `1`: the endpoints for Supabase Studio are served, unless a folder is named. */
  readonly studio?: '0' | '1';
  /** See `withDefaultTier`. */
  readonly defaultTier?: string;
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

const FOLDER_NAMES = { endpointsDir: 'endpoints', sourcesDir: 'sources' } as const;
/** Endpoints for Supabase Studio, below the package. */
const STUDIO_FOLDER = 'studio/endpoints';
const KINDS = ['endpointsDir', 'sourcesDir'] as const;

/** Chooses the named folder, even if it is missing, which reading reports; else that in the working folder; else that shipped with Tailrace. */
export function findFolders(named: NamedFolders): ReadFolders {
  const isStudios = (kind: keyof DefinitionFolders) => named.studio === '1' && kind === 'endpointsDir';
  const shipped = KINDS.filter(
    (kind) => named[kind] === '' && (isStudios(kind) || !existsSync(OWN_FOLDERS[kind])),
  );
  const find = (kind: keyof DefinitionFolders) => {
    if (!shipped.includes(kind)) return named[kind] || OWN_FOLDERS[kind];
    return packagePath(isStudios(kind) ? STUDIO_FOLDER : FOLDER_NAMES[kind]);
  };
  const alertsDir = named.alertsDir || (existsSync(OWN_ALERTS_DIR) ? OWN_ALERTS_DIR : '');
  return {
    ...pickRest(named),
    ...{ endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir'), shipped },
    ...(alertsDir !== '' && { alertsDir }),
  };
}

function pickRest({ studio, defaultTier }: NamedFolders): Pick<NamedFolders, 'studio' | 'defaultTier'> {
  return { ...(studio === '1' && { studio }), ...(defaultTier && { defaultTier }) };
}

/** Returns the folders of the next reload. The loss of a user's folder is a fault; shipped definitions give way to a folder that appears later. */
export function keepFolders(read: ReadFolders): NamedFolders {
  const keep = (kind: keyof DefinitionFolders) => (read.shipped.includes(kind) ? '' : read[kind]);
  const { alertsDir } = read;
  return {
    ...pickRest(read),
    ...{ endpointsDir: keep('endpointsDir'), sourcesDir: keep('sourcesDir') },
    ...(alertsDir !== undefined && { alertsDir }),
  };
}

/** Returns a line for each kind of definition that was read from this package. */
export function describeShipped(read: ReadFolders): string[] {
  return read.shipped.map((kind) =>
    read.studio === '1' && kind === 'endpointsDir'
      ? `TAILRACE_STUDIO is 1, so the endpoints for Supabase Studio are used: ${read[kind]}`
      : `there is no folder ${OWN_FOLDERS[kind]} here, so the ${FOLDER_NAMES[kind]} that ship with Tailrace are used: ${read[kind]}`,
  );
}
