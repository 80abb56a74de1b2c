import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { TailraceError } from '../errors.ts';
import { OutsideError, syncFolder } from '../lib/file.ts';
import { SQL_FILE, YAML_FILE } from './draft.ts';

/** The file of tests that a save writes, in the folder of the endpoint. */
export const TEST_FILE = join('tests', 'search.yaml');

/** Returns the paths of the two files of an endpoint. */
export const endpointPaths = (folder: string) => [YAML_FILE, SQL_FILE].map((name) => join(folder, name));

/** Reads the files of a definition, an absent one as empty; `undefined` if none is there. @throws as `readIfThere` */
export async function readTexts(paths: readonly string[]): Promise<readonly string[] | undefined> {
  const texts = await Promise.all(paths.map(readIfThere));
  return texts.every((text) => text === undefined) ? undefined : texts.map((text = '') => text);
}

/** Reads a text; `undefined` if there is no such file. @throws Node's error; TailraceError `conflict` if it is not UTF-8 */
export async function readIfThere(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  // Decoded and saved again, bytes that are not UTF-8 would be lost.
  if (bytes === undefined || isUtf8(bytes)) return bytes?.toString('utf8');
  throw conflict(`${basename(path)} is not UTF-8; convert the file, then read it again`);
}

/** Returns the version of the texts: a hash of each. */
export function versionOf(texts: readonly string[]): string {
  return texts.map((text) => createHash('sha256').update(text).digest('hex').slice(0, 32)).join('-');
}

export interface ReadVersion {
  readonly noun: string;
  readonly name: string;
  /** What was read before; null: there was no such definition. It may be any text. */
  readonly version: string | null;
}

/** @throws TailraceError `conflict` if the files do not have the texts that the caller has read; as `readIfThere` */
export async function rejectConflict(
  { noun, name, version }: ReadVersion,
  paths: readonly string[],
): Promise<void> {
  const texts = await readTexts(paths);
  const now = texts && versionOf(texts);
  if (now === (version ?? undefined)) return;
  if (now === undefined) throw conflict(`${name} was removed since it was read; save it as a new ${noun}`);
  if (version === null) {
    const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
    throw conflict(`there is ${a} ${noun} ${name} already; open it, or choose another name`);
  }
  const [before, hashes] = [version.split('-'), now.split('-')];
  const differing = paths.filter((_, i) => hashes[i] !== before[i]).map((path) => basename(path));
  const changed = paths.length === 1 ? ['the file'] : differing;
  const what = `${changed.join(' and ')} ${changed.length === 1 ? 'has' : 'have'} changed`;
  throw conflict(`${what} since ${name} was read; read it again and repeat the change`);
}

export const conflict = (message: string) => new TailraceError('conflict', message);

/**
 * Rejects links, and what is not a file or not the folder: a save would write elsewhere, or replace the link.
 * @throws TailraceError `forbidden`
 */
export async function rejectLinks(name: string, files: readonly string[], folder?: string): Promise<void> {
  const statsOf = (path: string) => lstat(path).catch(() => undefined);
  const found = await Promise.all(files.map(statsOf));
  const ofFolder = folder === undefined ? undefined : await statsOf(folder);
  if (found.some((stats) => stats?.isFile() === false) || ofFolder?.isDirectory() === false)
    throw linked(name);
}

function linked(name: string, cause?: unknown): TailraceError {
  const message = `a file or the folder of ${name} is a link, or neither; edit the files where they are`;
  return new TailraceError('forbidden', message, { cause });
}

/** What undoes a write. */
type TakeBack = () => Promise<void>;

interface FileOptions {
  /** Default: that of Node. */
  readonly rename?: typeof rename;
}

type Files = readonly (readonly [path: string, text: string])[];

/**
 * Writes the files of an endpoint, or none: a reader of one file sees its old text or the new one, and a new folder appears
 * with all. No reload of this process may read the files while they are being replaced.
 * @param test a file of tests, which only a new folder gets
 * @throws Node's error; then the texts are the old ones; TailraceError `conflict` for tests of an old folder
 */
export async function writeEndpoint(
  folder: string,
  files: Files,
  { test, ...options }: FileOptions & { readonly test?: string | undefined } = {},
): Promise<TakeBack> {
  const tests = test === undefined ? [] : [[join(folder, TEST_FILE), test] as const];
  const isNew = (await lstat(folder).catch(() => undefined)) === undefined;
  if (isNew) return await createFolder(folder, [...files, ...tests], options);
  if (test === undefined) return await replaceFiles(files, options);
  throw conflict(`there is a folder ${basename(folder)} already; choose another name`);
}

async function createFolder(
  folder: string,
  files: Files,
  { rename: move = rename }: FileOptions,
): Promise<TakeBack> {
  // Readers of definitions skip names that begin with a dot.
  const next = join(dirname(folder), `.${basename(folder)}.new`);
  try {
    await rm(next, { recursive: true, force: true });
    for (const [path, text] of files) {
      const file = join(next, relative(folder, path));
      await mkdir(dirname(file), { recursive: true });
      await writeSynced(file, text);
    }
    await move(next, folder);
  } catch (error) {
    await rm(next, { recursive: true, force: true });
    throw error;
  }
  syncFolder(dirname(folder));
  return () => rm(folder, { recursive: true, force: true });
}

/** Writes files of one folder, or none of them. @throws as `writeEndpoint` */
export async function replaceFiles(
  files: Files,
  { rename: move = rename }: FileOptions = {},
): Promise<TakeBack> {
  const temporary = (path: string) => join(dirname(path), `.${basename(path)}.new`);
  const replaced: (readonly [path: string, before: string | undefined])[] = [];
  const takeBack = async () => {
    for (const [path, before] of replaced.toReversed()) {
      if (before !== undefined) await writeSynced(temporary(path), before, path);
      await (before === undefined ? rm(path, { force: true }) : rename(temporary(path), path));
    }
  };
  try {
    for (const [path, text] of files) await writeSynced(temporary(path), text, path);
    for (const [path] of files) {
      const before = await readIfThere(path);
      await move(temporary(path), path);
      replaced.push([path, before]);
    }
  } catch (error) {
    await takeBack();
    throw error;
  } finally {
    for (const [path] of files) await rm(temporary(path), { force: true });
  }
  if (files[0] !== undefined) syncFolder(dirname(files[0][0]));
  return takeBack;
}

/** @param like a file with the rights that the new one gets, if it exists */
async function writeSynced(path: string, text: string, like?: string): Promise<void> {
  const stats = like === undefined ? undefined : await lstat(like).catch(() => undefined);
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    if (stats !== undefined) await file.chmod(stats.mode & 0o777);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the error of a failed write as callers may read it: the cause has the path. */
export function toSaveError(error: unknown, name: string): unknown {
  if (error instanceof OutsideError) return linked(name, error);
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new TailraceError('overloaded', 'the disk is full; nothing was saved', { cause: error });
  if (!['EROFS', 'EACCES', 'EPERM'].includes(code)) return error;
  const reason =
    code === 'EROFS' ? 'is on a read-only file system' : 'cannot be written by the user of the service';
  const message = `the folder of ${name} ${reason}; nothing was saved: copy the text into its file`;
  return new TailraceError('forbidden', message, { cause: error });
}
