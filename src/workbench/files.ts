import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TailraceError } from '../errors.ts';
import { OutsideError, syncFolder } from '../lib/file.ts';
import { type DraftTexts, SQL_FILE, YAML_FILE } from './draft.ts';

/** The file system as saves use it. */
export interface FileOptions {
  /** Default: that of Node. */
  readonly rename?: typeof rename;
  /** A file of tests, which only a new folder gets. */
  readonly test?: string | undefined;
}

/** The file of tests that a save writes, in the folder of the endpoint. */
export const TEST_FILE = join('tests', 'search.yaml');

/**
 * Reads the texts of an endpoint's folder; `undefined` if it has neither file.
 *
 * @throws Node's error; TailraceError `conflict` if one is not UTF-8
 */
export async function readTexts(folder: string): Promise<DraftTexts | undefined> {
  const [definition, sql] = await Promise.all([
    readIfThere(join(folder, YAML_FILE)),
    readIfThere(join(folder, SQL_FILE)),
  ]);
  if (definition === undefined && sql === undefined) return undefined;
  return { definition: definition ?? '', sql: sql ?? '' };
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

/** Texts of a definition; only endpoints have `sql`. */
export interface KeptTexts {
  readonly definition: string;
  readonly sql?: string | undefined;
}

/** Returns the version of the texts: a hash of each. */
export function versionOf({ definition, sql }: KeptTexts): string {
  return [definition, ...(sql === undefined ? [] : [sql])].map(hashText).join('-');
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

interface ReadVersion {
  readonly noun: string;
  readonly name: string;
  /** What was read before; null: there was no such definition. It may be any text. */
  readonly version: string | null;
}

/** @throws TailraceError `conflict` if the present texts are not those that the caller has read */
export function rejectConflict({ noun, name, version }: ReadVersion, now: KeptTexts | undefined): void {
  if (now === undefined ? version === null : version === versionOf(now)) return;
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  const what =
    now === undefined
      ? `${name} was removed since it was read; save it as a new ${noun}`
      : version === null
        ? `there is ${a} ${noun} ${name} already; open it, or choose another name`
        : `${describeChange(now, version)} since ${name} was read; read it again and repeat the change`;
  throw new TailraceError('conflict', what);
}

function describeChange(now: KeptTexts, version: string): string {
  if (now.sql === undefined) return 'the file has changed';
  const before = version.split('-');
  const hashes = versionOf(now).split('-');
  const changed = [YAML_FILE, SQL_FILE].filter((_, i) => hashes[i] !== before[i]);
  return `${changed.join(' and ')} ${changed.length === 1 ? 'has' : 'have'} changed`;
}

/**
 * Rejects links, and what is not a file or not the folder: a save would write elsewhere, or replace the link.
 *
 * @throws TailraceError `forbidden`
 */
export async function rejectLinks(name: string, files: readonly string[], folder?: string): Promise<void> {
  const isOther = async (path: string, is: 'isFile' | 'isDirectory') =>
    (await lstat(path).catch(() => undefined))?.[is]() === false;
  const ofFiles = files.map((path) => isOther(path, 'isFile'));
  const found = await Promise.all([...ofFiles, folder !== undefined && isOther(folder, 'isDirectory')]);
  if (found.includes(true)) throw linked(name);
}

function linked(name: string, cause?: unknown): TailraceError {
  const message = `a file or the folder of ${name} is a link, or neither; edit the files where they are`;
  return new TailraceError('forbidden', message, { cause });
}

/**
 * Writes both files, or neither: a reader of one file sees its old text or the new one, and a new folder appears with
 * both. No reload of this process may read the files while they are being replaced.
 *
 * @returns a function that undoes it
 * @throws Node's error; then the texts are the old ones
 */
export async function writeTexts(
  folder: string,
  texts: DraftTexts,
  { rename: move = rename, test }: FileOptions = {},
): Promise<() => Promise<void>> {
  const isNew = (await lstat(folder).catch(() => undefined)) === undefined;
  if (isNew) return await createFolder(folder, { ...texts, test }, move);
  if (test !== undefined)
    throw new TailraceError('conflict', `there is a folder ${basename(folder)} already; choose another name`);
  const files = [
    [join(folder, YAML_FILE), texts.definition],
    [join(folder, SQL_FILE), texts.sql],
  ] as const;
  return await replaceFiles(files, { rename: move });
}

async function createFolder(
  folder: string,
  { test, ...texts }: DraftTexts & Pick<FileOptions, 'test'>,
  move: typeof rename,
) {
  // Readers of definitions skip names that begin with a dot.
  const next = join(dirname(folder), `.${basename(folder)}.new`);
  try {
    await rm(next, { recursive: true, force: true });
    await mkdir(next);
    await writeSynced(join(next, YAML_FILE), texts.definition);
    await writeSynced(join(next, SQL_FILE), texts.sql);
    if (test !== undefined) {
      await mkdir(dirname(join(next, TEST_FILE)));
      await writeSynced(join(next, TEST_FILE), test);
    }
    await move(next, folder);
  } catch (error) {
    await rm(next, { recursive: true, force: true });
    throw error;
  }
  syncFolder(dirname(folder));
  return () => rm(folder, { recursive: true, force: true });
}

/** Writes files of one folder, or none of them. @returns a function that undoes it @throws as `writeTexts` */
export async function replaceFiles(
  files: readonly (readonly [path: string, text: string])[],
  { rename: move = rename }: FileOptions = {},
): Promise<() => Promise<void>> {
  const undo: (() => Promise<void>)[] = [];
  const takeBack = async () => {
    for (const one of undo.toReversed()) await one();
  };
  const temporary = (path: string) => join(dirname(path), `.${basename(path)}.new`);
  try {
    for (const [path, text] of files) await writeSynced(temporary(path), text, path);
    for (const [path] of files) {
      const before = await readIfThere(path);
      await move(temporary(path), path);
      undo.push(() => restore(path, before));
    }
  } catch (error) {
    await takeBack();
    throw error;
  } finally {
    for (const [path] of files) await rm(temporary(path), { force: true });
  }
  for (const [path] of files.slice(0, 1)) syncFolder(dirname(path));
  return takeBack;
}

async function restore(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return await rm(path, { force: true });
  const next = join(dirname(path), `.${basename(path)}.old`);
  await writeSynced(next, text, path);
  await rename(next, path);
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

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system',
  EACCES: 'cannot be written by the user of the service',
  EPERM: 'cannot be written by the user of the service',
};

/** Returns the error of a failed write as callers may read it: the cause has the path. */
export function toSaveError(error: unknown, name: string): unknown {
  if (error instanceof OutsideError) return linked(name, error);
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new TailraceError('overloaded', 'the disk is full; nothing was saved', { cause: error });
  const reason = REASONS[code];
  if (reason === undefined) return error;
  const message = `the folder of ${name} ${reason}; nothing was saved: copy the text into its file`;
  return new TailraceError('forbidden', message, { cause: error });
}
