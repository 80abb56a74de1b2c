import { existsSync } from 'node:fs';
import { packagePath } from '../lib/package-path.ts';

/** Where definitions are read from. The empty string: nobody named a folder. */
export interface DefinitionFolders {
  readonly endpointsDir: string;
  readonly sourcesDir: string;
}

/** The folders of one reading. */
export interface ReadFolders extends DefinitionFolders {
  /** Those that nobody named and that the working folder does not have: the ones of this package were read. */
  readonly shipped: readonly (keyof DefinitionFolders)[];
}

/** What is read if nobody named a folder and it exists. */
export const OWN_FOLDERS: DefinitionFolders = { endpointsDir: './endpoints', sourcesDir: './sources' };

const FOLDER_NAMES = { endpointsDir: 'endpoints', sourcesDir: 'sources' } as const;
const KINDS = ['endpointsDir', 'sourcesDir'] as const;

/**
 * The folder that was named; else the one in the working folder; else the one that ships with Tailrace. A named folder that does not
 * exist stays, so that reading it reports the fault.
 */
export function findFolders(named: DefinitionFolders): ReadFolders {
  const shipped = KINDS.filter((kind) => named[kind] === '' && !existsSync(OWN_FOLDERS[kind]));
  const find = (kind: keyof DefinitionFolders) =>
    shipped.includes(kind) ? packagePath(FOLDER_NAMES[kind]) : named[kind] || OWN_FOLDERS[kind];
  return { endpointsDir: find('endpointsDir'), sourcesDir: find('sourcesDir'), shipped };
}

/**
 * The folders that the next reload names. A folder that was read is kept, so that its loss is a fault and does not bring the shipped
 * definitions back. Shipped ones give way to a folder that appears later.
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
