import { existsSync } from 'node:fs';
import { packagePath } from '../lib/package-path.ts';

/** Where definitions are read from. Empty: no folder was named. */
export interface DefinitionFolders {
  readonly endpointsDir: string;
  readonly sourcesDir: string;
}

/** The folders of one reading. */
export interface ReadFolders extends DefinitionFolders {
  /** Folders that were neither named nor in the working folder: those of this package were read instead. */
  readonly shipped: readonly (keyof DefinitionFolders)[];
}

/** Read if no folder is named and these exist. */
export const OWN_FOLDERS: DefinitionFolders = { endpointsDir: './endpoints', sourcesDir: './sources' };

const FOLDER_NAMES = { endpointsDir: 'endpoints', sourcesDir: 'sources' } as const;
const KINDS = ['endpointsDir', 'sourcesDir'] as const;

/** The named folder, even if it is missing, which reading reports; else that in the working folder; else that shipped with Tailrace. */
export function findFolders(named: DefinitionFolders): ReadFolders {
  const shipped = KINDS.filter((kind) => named[kind] === '' && !existsSync(OWN_FOLDERS[kind]));
  const find = (kind: keyof DefinitionFolders) =>
    shipped.includes(kind) ? packagePath(FOLDER_NAMES[kind]) : named[kind] || OWN_FOLDERS[kind];
  return { endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir'), shipped };
}

/** The folders of the next reload. The loss of a user's folder is a fault; shipped definitions give way to a folder that appears later. */
export function keepFolders(read: ReadFolders): DefinitionFolders {
  const keep = (kind: keyof DefinitionFolders) => (read.shipped.includes(kind) ? '' : read[kind]);
  return { endpointsDir: keep('endpointsDir'), sourcesDir: keep('sourcesDir') };
}

/** One line for each kind of definition that was read from this package. */
export function describeShipped(read: ReadFolders): string[] {
  return read.shipped.map(
    (kind) =>
      `there is no folder ${OWN_FOLDERS[kind]} here, so the ${FOLDER_NAMES[kind]} that ship with Tailrace are used: ${read[kind]}`,
  );
}
