import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** A name is not a path, or its path leads out of its folder. */
export class OutsideError extends Error {
  override readonly name = 'OutsideError';
}

// Not `.` or `..`; no separator of any system, no control characters, no lone surrogates.
const NAME = /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]+$/u;

/**
 * Returns the path of a file or folder that a caller or a file from elsewhere names. Every such path is created here:
 * names joined by `/`, with the links that they lead through resolved and compared with the folder. What follows after
 * the first missing name is new, so no link can be in it.
 *
 * @param folder exists
 * @param name relative to it
 * @returns the two, joined
 * @throws OutsideError if it would be outside of the folder, or lead through a link to nothing; Node's error if the
 *   disk fails
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
