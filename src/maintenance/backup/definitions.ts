import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../lib/folder.ts';
import { type CopyOptions, copyFile, listFiles } from './files.ts';
import type { ManifestFile } from './manifest.ts';

/** The folders of the definitions, by their names in a backup. */
export interface DefinitionDirs {
  readonly endpoints: string;
  readonly sources: string;
}

/** Where the definitions of a backup are restored to. */
export interface DefinitionTargets extends DefinitionDirs {
  /** Folders of the package that are served while the folders above are missing. If they equal the backup, nothing is written. */
  readonly shipped: Partial<DefinitionDirs>;
}

const FOLDER = 'definitions';
const KINDS = ['endpoints', 'sources'] as const;

/** Copies the definitions; follows links and skips hidden files, which Kubernetes mounts contain. */
export async function copyDefinitions(
  dirs: DefinitionDirs,
  target: string,
  options: CopyOptions,
): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const kind of KINDS) {
    for (const name of (await listFiles(dirs[kind])).filter(isShown)) {
      const path = join(FOLDER, kind, name);
      files.push({ path, ...(await copyFile(join(dirs[kind], name), join(target, path), options)) });
    }
  }
  return files;
}

/** The outcome for one folder of definitions. */
export interface RestoredDefinitions {
  readonly dir: string;
  readonly from: string;
  /** `differ`: the folder has other definitions and was not changed; `none`: the backup has none. */
  readonly state: 'restored' | 'same' | 'differ' | 'none';
  /** Paths in the folder that are missing or have another content. */
  readonly differing: readonly string[];
}

/** Restores definitions into folders that are missing or empty. Other folders are compared and not changed. */
export async function restoreDefinitions(
  backup: string,
  dirs: DefinitionTargets,
): Promise<RestoredDefinitions[]> {
  const restored: RestoredDefinitions[] = [];
  for (const kind of KINDS) {
    const from = join(backup, FOLDER, kind);
    const shipped = dirs.shipped[kind];
    const names = await listFiles(from).catch(() => []);
    const isShipped = shipped !== undefined && (await findDiffering(from, shipped, names)).length === 0;
    if (isShipped && names.length > 0) restored.push({ dir: shipped, from, state: 'same', differing: [] });
    else restored.push({ dir: dirs[kind], from, ...(await restoreFolder(from, dirs[kind], names)) });
  }
  return restored;
}

async function restoreFolder(
  from: string,
  dir: string,
  names: readonly string[],
): Promise<Pick<RestoredDefinitions, 'state' | 'differing'>> {
  if (names.length === 0) return { state: 'none', differing: [] };
  const present = await readdir(dir).catch(() => []);
  if (present.filter(isShown).length === 0) {
    makeFolder(dir);
    await cp(from, dir, { recursive: true });
    return { state: 'restored', differing: [] };
  }
  const differing = await findDiffering(from, dir, names);
  return { state: differing.length === 0 ? 'same' : 'differ', differing };
}

/** The files of a backup that are missing in a folder or have another content there. */
async function findDiffering(from: string, dir: string, names: readonly string[]): Promise<string[]> {
  const differing: string[] = [];
  for (const name of names) {
    const present = await readFile(join(dir, name)).catch(() => undefined);
    if (present?.equals(await readFile(join(from, name))) !== true) differing.push(name);
  }
  return differing;
}

function isShown(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}
