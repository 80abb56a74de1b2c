import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeSystemFailure } from './system-failure.ts';

/**
 * Creates a folder and its missing parents. Node's own `recursive` never returns if the system does not allow the name,
 * as below `/proc`: it creates the parent, which exists, and begins again.
 *
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
