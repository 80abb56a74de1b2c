import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CopyOptions, copyFile, listFiles } from './files.ts';
import type { ManifestFile } from './manifest.ts';

/** The folders of the definitions, by their names in a backup. */
export interface DefinitionDirs {
  readonly endpoints: string;
  readonly sources: string;
}

/** Where the definitions of a backup go. */
export interface DefinitionTargets extends DefinitionDirs {
  /** Folders of the package that are served while those above are missing. Nothing is written if they have the same. */
  readonly shipped: Partial<DefinitionDirs>;
}

const FOLDER = 'definitions';
const KINDS = ['endpoints', 'sources'] as const;

/** Copies the definitions, links as what they lead to. Hidden files are none: Kubernetes mounts have several. */
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

/** What came of the definitions of one folder. */
export interface RestoredDefinitions {
  readonly dir: string;
  readonly from: string;
  /** `differ`: the folder has others, which were left as they are; `none`: the backup has none. */
  readonly state: 'restored' | 'same' | 'differ' | 'none';
  /** Paths within the folder that are missing there or have another content. */
  readonly differing: readonly string[];
}

/** Puts the definitions of a backup into folders that are missing or empty. Others are compared and left alone. */
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
    await mkdir(dir, { recursive: true });
    await cp(from, dir, { recursive: true });
    return { state: 'restored', differing: [] };
  }
  const differing = await findDiffering(from, dir, names);
  return { state: differing.length === 0 ? 'same' : 'differ', differing };
}

/** Those files of a backup that a folder does not have, or has with another content. */
async function findDiffering(from: string, dir: string, names: readonly string[]): Promise<string[]> {
  const differing: string[] = [];
  for (const name of names) {
    const [old, now] = await Promise.all([
      readFile(join(from, name)),
      readFile(join(dir, name)).catch(() => undefined),
    ]);
    if (now === undefined || !old.equals(now)) differing.push(name);
  }
  return differing;
}

function isShown(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}
