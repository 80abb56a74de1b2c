import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findBelow } from '../../lib/below.ts';
import { makeFolder } from '../../lib/folder.ts';
import { type CopiedFile, type CopyOptions, copyFile, describeFile, listFiles } from './files.ts';
import { damaged, type Manifest, type ManifestFile } from './manifest.ts';

/** The folders of the definitions, by their names in a backup. */
export interface DefinitionDirs {
  readonly endpoints: string;
  readonly sources: string;
  /** `undefined`: there are no alerts. */
  readonly alerts?: string;
  /** `undefined`: there are no dashboards. */
  readonly dashboards?: string;
}

/** Where the definitions of a backup are restored to. */
export interface DefinitionTargets extends DefinitionDirs {
  /** Folders of the package that are served while the folders above are missing. If they equal the backup, nothing is written. */
  readonly shipped: Partial<DefinitionDirs>;
}

const FOLDER = 'definitions';
const KINDS = ['endpoints', 'sources', 'alerts', 'dashboards'] as const;
const OPTIONAL: readonly string[] = ['alerts', 'dashboards'] satisfies (typeof KINDS)[number][];

/** Copies the definitions; follows links and skips hidden files, which Kubernetes mounts contain. */
export async function copyDefinitions(
  dirs: DefinitionDirs,
  target: string,
  options: CopyOptions,
): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const kind of KINDS) {
    const dir = dirs[kind];
    if (dir === undefined) continue;
    for (const name of (await listFiles(dir)).filter(isShown)) {
      const path = join(FOLDER, kind, name);
      const to = await findBelow(target, path);
      files.push({ path, ...(await copyFile(join(dir, name), to, options)) });
    }
  }
  return files;
}

/** The outcome for one folder of definitions. */
export interface RestoredDefinitions {
  readonly dir: string;
  readonly from: string;
  /**
   * `differ`: the folder has other definitions and was not changed; `none`: the backup has none; `failed`: the folder cannot be
   * written, as one that belongs to another user.
   */
  readonly state: 'restored' | 'same' | 'differ' | 'none' | 'failed';
  /** Paths in the folder that are missing or differ. */
  readonly differing: readonly string[];
  /** Why it failed. */
  readonly cause?: unknown;
}

/** A file of the backup's manifest, by its path in the folder of its kind. */
interface Listed extends CopiedFile {
  readonly name: string;
}

/**
 * Restores the definitions that the manifest lists, and no other file, into folders that are missing or empty. Other folders are
 * compared and not changed.
 *
 * @throws InputError if a file differs from the manifest
 */
export async function restoreDefinitions(
  backup: string,
  { files }: Pick<Manifest, 'files'>,
  dirs: DefinitionTargets,
): Promise<RestoredDefinitions[]> {
  const restored: RestoredDefinitions[] = [];
  for (const kind of KINDS) {
    const dir = dirs[kind];
    if (dir === undefined) continue;
    const from = join(backup, FOLDER, kind);
    const start = `${FOLDER}/${kind}/`;
    const own = files.filter(({ path }) => path.startsWith(start));
    const listed = own.map(({ path, ...file }) => ({ ...file, name: path.slice(start.length) }));
    if (OPTIONAL.includes(kind) && listed.length === 0) continue; // most services have none
    const shipped = dirs.shipped[kind];
    const isShipped = shipped !== undefined && (await findDiffering(shipped, listed)).length === 0;
    if (isShipped && listed.length > 0) restored.push({ dir: shipped, from, state: 'same', differing: [] });
    else restored.push({ dir, from, ...(await restoreFolder(from, dir, listed)) });
  }
  return restored;
}

async function restoreFolder(
  from: string,
  dir: string,
  listed: readonly Listed[],
): Promise<Omit<RestoredDefinitions, 'dir' | 'from'>> {
  if (listed.length === 0) return { state: 'none', differing: [] };
  const present = await readdir(dir).catch(() => []);
  if (present.filter(isShown).length > 0) {
    const differing = await findDiffering(dir, listed);
    return { state: differing.length === 0 ? 'same' : 'differ', differing };
  }
  try {
    await copyListed(from, dir, listed);
  } catch (cause) {
    // An error of the file system; any other one says that the backup is damaged.
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause;
    return { state: 'failed', differing: [], cause };
  }
  return { state: 'restored', differing: [] };
}

async function copyListed(from: string, dir: string, listed: readonly Listed[]): Promise<void> {
  makeFolder(dir);
  for (const { name, sha256 } of listed) {
    const source = await findBelow(from, name);
    const copied = await copyFile(source, await findBelow(dir, name));
    if (copied.sha256 !== sha256) throw damaged(source);
  }
}

/** Finds the listed files that are missing in a folder or have another content there. */
async function findDiffering(dir: string, listed: readonly Listed[]): Promise<string[]> {
  const differing: string[] = [];
  for (const { name, sha256 } of listed) {
    const present = await describeFile(join(dir, name)).catch(() => undefined);
    if (present?.sha256 !== sha256) differing.push(name);
  }
  return differing;
}

function isShown(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}
