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

/**
 * The named folder; else the one in the working folder; else the one that ships with Tailrace. A named folder is returned even if
 * it does not exist, so that reading it reports the fault.
 */
export function findFolders(named: DefinitionFolders): ReadFolders {
  const shipped = KINDS.filter((kind) => named[kind] === '' && !existsSync(OWN_FOLDERS[kind]));
  const find = (kind: keyof DefinitionFolders) =>
    shipped.includes(kind) ? packagePath(FOLDER_NAMES[kind]) : named[kind] || OWN_FOLDERS[kind];
  return { endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir'), shipped };
}

/**
 * The folders that the next reload reads. A folder of the user's is kept, so that its loss is a fault and does not bring the shipped
 * definitions back. Shipped definitions give way to a folder that appears later.
 */
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
