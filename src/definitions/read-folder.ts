import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { Fault } from './fault.ts';
import { readYamlFile, type YamlFile } from './yaml-file.ts';

/** Reads the YAML files of a folder, by name. Adds the faults of those that cannot be read. */
export async function readYamlFolder(dir: string, faults: Fault[]): Promise<YamlFile[]> {
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (!isFolder && /\.ya?ml$/.test(name) ? [name] : []));
  const read = await Promise.all(names.toSorted().map((name) => readYamlFile(join(dir, name))));
  return read.flatMap((file) => {
    if (!Array.isArray(file)) return [file];
    faults.push(...file);
    return [];
  });
}

/**
 * Lists a folder. Links are followed: folders that Kubernetes mounts hold nothing else. A broken link counts as a file:
 * it is reported as missing.
 */
export async function listFolder(
  dir: string,
  faults: Fault[],
): Promise<{ name: string; isFolder: boolean }[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const list = entries.map(async (entry) => {
      const linked = entry.isSymbolicLink() && (await stat(join(dir, entry.name)).catch(() => undefined));
      return { name: entry.name, isFolder: (linked || entry).isDirectory() };
    });
    return await Promise.all(list);
  } catch (error) {
    faults.push({ file: dir, line: 1, message: `cannot be read as a folder: ${messageOf(error)}` });
    return [];
  }
}

/**
 * Checks that no two definitions of a kind share a value of a field, in any letter case. Ids and names share one
 * lookup, so no name is another's id.
 */
export function checkUnique(files: readonly YamlFile[], fields: readonly string[]): Fault[] {
  const ids = firstFiles(files, 'id');
  return fields.flatMap((field) => {
    const taken = firstFiles(files, field);
    return files.flatMap((file) => {
      const text = textOf(file, field);
      if (text === undefined) return [];
      const owners = [taken, ...(field === 'name' ? [ids] : [])].map((one) => one.get(text.toLowerCase()));
      const other = owners.find((owner) => owner !== undefined && owner !== file.file);
      if (other === undefined) return [];
      return [file.fault([field], `${field} ${JSON.stringify(text)} is already taken by ${other}`)];
    });
  });
}

/** The first file with each value of a field, in lower case. */
function firstFiles(files: readonly YamlFile[], field: string): Map<string | undefined, string> {
  return new Map(files.toReversed().map((file) => [textOf(file, field)?.toLowerCase(), file.file]));
}

/** Files of a wrong shape, which are reported elsewhere, are compared by the fields that they have. */
export function textOf(file: YamlFile, field: string): string | undefined {
  const value = (file.value as Record<string, unknown> | null)?.[field];
  return typeof value === 'string' ? value : undefined;
}
