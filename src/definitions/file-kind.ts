import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { type Fault, messageOf } from '../errors.ts';
import { createShapeCheck } from './shape.ts';
import { type FieldFault, readYamlFile, toFaults, type YamlFile } from './yaml-file.ts';

/** A kind of definition that is one YAML file. */
export interface FileKind<T> {
  /** What one is called. */
  readonly noun: string;
  /** Fields of which no two files may share a value. Default: id and name. */
  readonly unique?: readonly string[];
  /** Finds the faults of a file that need no other definition. */
  readonly check: (file: YamlFile) => Fault[];
  /** Creates the definition of a file in which `check` found no fault. */
  readonly create: (file: YamlFile) => T;
}

/** What a definition has of its file. */
type OfFile = Pick<YamlFile, 'file' | 'fault'> & { readonly id: string };

/** The definitions of a kind. */
export type Defined<Kind> = Kind extends FileKind<infer T> ? Readonly<T> : never;

/** Creates a kind of definition. @param rules for fields of the right shape; `find` finds faults between fields */
export function createFileKind<Schema extends TSchema, T extends object>(
  noun: string,
  schema: Schema,
  rules: {
    readonly find?: (fields: Static<Schema>) => Iterable<FieldFault>;
    readonly create: (fields: Static<Schema>) => T;
  },
): FileKind<T & OfFile> {
  const checkShape = createShapeCheck(schema);
  const fieldsOf = ({ value }: YamlFile) => value as Static<Schema> & { readonly id: string }; // as `check` found it
  return {
    noun,
    check(file) {
      const shape = checkShape(file);
      return shape.length > 0 ? shape : toFaults(file, rules.find?.(fieldsOf(file)) ?? []);
    },
    create(file) {
      const fields = fieldsOf(file);
      return { ...rules.create(fields), id: fields.id.toLowerCase(), file: file.file, fault: file.fault };
    },
  };
}

/** Reads the definitions of a folder, if there is one. Adds every fault that needs no definition of another kind. */
export async function readKind<T>(
  dir: string | undefined,
  { unique = ['id', 'name'], check, create }: FileKind<T>,
  faults: Fault[],
): Promise<T[]> {
  if (dir === undefined) return [];
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (!isFolder && /\.ya?ml$/.test(name) ? [name] : []));
  const read = await Promise.all(names.toSorted().map((name) => readYamlFile(join(dir, name))));
  const files = read.flatMap((file) => (Array.isArray(file) ? [] : [file]));
  faults.push(...read.flatMap((file) => (Array.isArray(file) ? file : [])), ...checkUnique(files, unique));
  return files.flatMap((file) => {
    const own = check(file);
    faults.push(...own);
    return own.length === 0 ? [create(file)] : [];
  });
}

/**
 * Lists a folder. Links are followed: folders that Kubernetes mounts hold nothing else. A broken link counts as a file:
 * it is reported as missing.
 */
export async function listFolder(dir: string, faults: Fault[]) {
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
  const owners = new Map<string, string>();
  const check = (file: YamlFile, field: string) => {
    const text = textOf(file, field);
    if (text === undefined) return [];
    const key = `${field === 'id' ? 'name' : field} ${text.toLowerCase()}`;
    const owner = owners.get(key) ?? file.file;
    owners.set(key, owner);
    if (owner === file.file) return [];
    return [file.fault([field], `${field} ${JSON.stringify(text)} is already taken by ${owner}`)];
  };
  return files.flatMap((file) => fields.flatMap((field) => check(file, field)));
}

/** Files of a wrong shape, which are reported elsewhere, are compared by the fields that they have. */
export function textOf(file: YamlFile, field: string): string | undefined {
  const value = (file.value as Record<string, unknown> | null)?.[field];
  return typeof value === 'string' ? value : undefined;
}
