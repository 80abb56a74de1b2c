import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { lstat, open, realpath, statfs } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeSystemFailure } from './system-failure.ts';

/**
 * Replaces a file atomically: after a crash it holds the old text or the new one. Only its owner can read it.
 * @throws Node's error; the old file then stays
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  try {
    withFile(temporary, 'w', (descriptor) => {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/**
 * Creates a file that only its owner can read, before anything is written into it. An existing file, such as a restored
 * backup, is made unreadable for other users. The files that SQLite creates beside its database get the same rights.
 */
export const makePrivateFile = (file: string) =>
  withFile(file, 'a', (descriptor) => fchmodSync(descriptor, 0o600));

/** Syncs a folder, so that the names in it survive a crash of the machine. */
export const syncFolder = (dir: string) => withFile(dir, 'r', fsyncSync);

function withFile(path: string, flags: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a file, so that its bytes survive a crash of the machine. A file that was removed meanwhile is ignored. */
export async function syncFile(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Returns how many bytes this process may still write to the disk of a folder; `undefined` if the system does not say. */
export async function readFreeBytes(dir: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder and its missing parents. Node's own `recursive` never returns if the system does not allow the name,
 * as below `/proc`: it creates the parent, which exists, and begins again.
 * @param mode of each folder that is created
 * @returns whether it was created
 * @throws Node's error; `EEXIST` or `ENOTDIR` if it, or one above it, is a file
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  if (isFolder(path)) return false;
  const above = dirname(path);
  if (above !== path && !isFolder(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (isFolder(path)) return false; // another process was faster
    throw error;
  }
}

/** @throws Node's error if that cannot be found out */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Describes to people why a folder cannot be created or used. @param error Node's */
export function describeFolderFailure(error: unknown): string {
  const { code, path = '' } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return isLink(path) ? `${path} is a symbolic link to nothing` : 'it is a file, not a folder';
  if (code === 'ENOENT') return 'no folder can be created there';
  if (code === 'ELOOP') return 'its symbolic links lead in a circle';
  return describeSystemFailure(error);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** A name is not a path, or its path leads out of its folder. */
export class OutsideError extends Error {
  override readonly name = 'OutsideError';
}

// Not `.` or `..`; no separator of any system, no control characters, no lone surrogates.
const NAME = /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]+$/u;

/**
 * Returns the path of a file or folder that a caller or a file from elsewhere names. Every such path is created here:
 * names joined by `/`, with the links that they lead through resolved and compared with the folder, which exists. What
 * follows after the first missing name is new, so no link can be in it.
 * @returns `folder` and `name`, joined
 * @throws OutsideError if it would be outside of the folder, or lead through a link to nothing; Node's error
 */
export async function findBelow(folder: string, name: string): Promise<string> {
  const names = name.split('/');
  if (!names.every((one) => NAME.test(one))) throw outside(name);
  const root = await realpath(folder);
  const prefix = root.endsWith(sep) ? root : root + sep;
  let at = root;
  for (const one of names) {
    at = join(at, one);
    const stats = await ignoreMissing(lstat(at));
    if (stats === undefined) break;
    if (!stats.isSymbolicLink()) continue;
    const target = await ignoreMissing(realpath(at)); // a link to nothing would be written through
    if (target === undefined || !target.startsWith(prefix)) throw outside(name);
    at = target;
  }
  return join(folder, name);
}

function outside(name: string): OutsideError {
  const shown = JSON.stringify(name.length > 100 ? `${name.slice(0, 99)}…` : name);
  return new OutsideError(
    `${shown} is not the path of a file in its folder: it has names joined by "/", without "..", and no link that leads out`,
  );
}

async function ignoreMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The root of this package; src/lib/ and dist/lib/ are equally deep. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the path of a file or folder of the package, relative to the working folder if it lies below it:
 * `docs/settings.md` in a checkout, `node_modules/tailrace/docs/settings.md` beside an installed package.
 */
export function packagePath(name: string): string {
  const path = join(ROOT, name);
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || isAbsolute(near) ? path : near;
}
