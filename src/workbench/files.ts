import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TailraceError } from '../errors.ts';
import { OutsideError, syncFolder } from '../lib/file.ts';
import { type DraftTexts, SQL_FILE, YAML_FILE } from './draft.ts';

/** The file of tests that a save writes, in the folder of the endpoint. */
export const TEST_FILE = join('tests', 'search.yaml');

/** Texts of a definition; only endpoints have `sql`. */
export interface KeptTexts {
  readonly definition: string;
  readonly sql?: string | undefined;
}

/** The files of an endpoint, in its folder. */
const FILES = [YAML_FILE, SQL_FILE];

/** Reads the texts of an endpoint's folder; `undefined` if it has neither file. @throws as `readIfThere` */
export async function readTexts(folder: string): Promise<DraftTexts | undefined> {
  const [definition, sql] = await Promise.all(FILES.map((name) => readIfThere(join(folder, name))));
  if (definition === undefined && sql === undefined) return undefined;
  return { definition: definition ?? '', sql: sql ?? '' };
}

/**
 * Reads the texts that a save would replace. @param path of the file, or of the folder of an endpoint
 * @throws as `readIfThere`; TailraceError `forbidden` for a link
 */
export async function readKept(
  name: string,
  path: string,
  isFolder: boolean,
): Promise<KeptTexts | undefined> {
  const files = isFolder ? FILES.map((file) => join(path, file)) : [path];
  await rejectLinks(name, files, isFolder ? path : undefined);
  if (isFolder) return await readTexts(path);
  const definition = await readIfThere(path);
  return definition === undefined ? undefined : { definition };
}

/** Reads a text; `undefined` if there is no such file. @throws Node's error; TailraceError `conflict` if it is not UTF-8 */
export async function readIfThere(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  // Decoded and saved again, bytes that are not UTF-8 would be lost.
  if (bytes === undefined || isUtf8(bytes)) return bytes?.toString('utf8');
  throw new TailraceError('conflict', `${basename(path)} is not UTF-8; convert the file, then read it again`);
}

/** Returns the version of the texts: a hash of each. */
export function versionOf({ definition, sql }: KeptTexts): string {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
  return sql === undefined ? hash(definition) : `${hash(definition)}-${hash(sql)}`;
}

export interface ReadVersion {
  readonly noun: string;
  readonly name: string;
  /** What was read before; null: there was no such definition. It may be any text. */
  readonly version: string | null;
}

/** @throws TailraceError `conflict` if the present texts are not those that the caller has read */
export function rejectConflict({ noun, name, version }: ReadVersion, now: KeptTexts | undefined): void {
  if (now === undefined ? version === null : version === versionOf(now)) return;
  throw new TailraceError('conflict', describeConflict({ noun, name, version }, now));
}

function describeConflict({ noun, name, version }: ReadVersion, now: KeptTexts | undefined): string {
  if (now === undefined) return `${name} was removed since it was read; save it as a new ${noun}`;
  if (version === null) {
    const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
    return `there is ${a} ${noun} ${name} already; open it, or choose another name`;
  }
  const before = version.split('-');
  const hashes = versionOf(now).split('-');
  const changed = now.sql === undefined ? ['the file'] : FILES.filter((_, i) => hashes[i] !== before[i]);
  const what = `${changed.join(' and ')} ${changed.length === 1 ? 'has' : 'have'} changed`;
  return `${what} since ${name} was read; read it again and repeat the change`;
}

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
  /** A file of tests, which only a new folder gets. */
  readonly test?: string | undefined;
}

/**
 * Writes the file of a definition, or both of an endpoint, or none: a reader of one file sees its old text or the new one,
 * and a new folder appears with all. No reload of this process may read the files while they are being replaced.
 * @param path of the file, or of the folder of an endpoint
 * @throws Node's error; then the texts are the old ones
 */
export async function writeKept(
  path: string,
  { definition, sql }: KeptTexts,
  { test, ...options }: FileOptions = {},
): Promise<TakeBack> {
  if (sql === undefined) return await replaceFiles([[path, definition]], options);
  const texts = {
    [YAML_FILE]: definition,
    [SQL_FILE]: sql,
    ...(test !== undefined && { [TEST_FILE]: test }),
  };
  const isNew = (await lstat(path).catch(() => undefined)) === undefined;
  if (isNew) return await createFolder(path, Object.entries(texts), options);
  if (test !== undefined)
    throw new TailraceError('conflict', `there is a folder ${basename(path)} already; choose another name`);
  return await replaceFiles(
    Object.entries(texts).map(([name, text]) => [join(path, name), text]),
    options,
  );
}

type Files = readonly (readonly [path: string, text: string])[];

async function createFolder(
  folder: string,
  files: Files,
  { rename: move = rename }: FileOptions,
): Promise<TakeBack> {
  // Readers of definitions skip names that begin with a dot.
  const next = join(dirname(folder), `.${basename(folder)}.new`);
  try {
    await rm(next, { recursive: true, force: true });
    await mkdir(next);
    for (const [name, text] of files) {
      await mkdir(dirname(join(next, name)), { recursive: true });
      await writeSynced(join(next, name), text);
    }
    await move(next, folder);
  } catch (error) {
    await rm(next, { recursive: true, force: true });
    throw error;
  }
  syncFolder(dirname(folder));
  return () => rm(folder, { recursive: true, force: true });
}

/** Writes files of one folder, or none of them. @throws as `writeKept` */
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
