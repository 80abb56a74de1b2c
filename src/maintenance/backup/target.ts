import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { InputError, messageOf } from '../../errors.ts';
import { replaceFile } from '../../lib/replace-file.ts';

/** The folder that a backup is written into, made where it is missing. */
export interface BackupTarget {
  readonly dir: string;
  /** @throws InputError where the disk has less room than that */
  requireRoom(bytes: number): Promise<void>;
  /** Takes away all that was written, so that the same folder can be used again. */
  empty(): void;
}

const TRIAL_FILE = '.tailrace-trial';

/** @throws InputError when the folder has something in it, cannot be written, or lies within the data directory */
export function openTarget(dir: string, dataDir: string): BackupTarget {
  const isNew = prepare(dir);
  const [target, data] = [realpathSync(dir), realpathSync(dataDir)];
  const within = relative(data, target);
  if (within === '' || !(within.startsWith('..') || within.startsWith('/'))) {
    if (isNew) rmSync(dir, { recursive: true });
    throw new InputError([
      `${dir} lies in the data directory ${dataDir}, which it is a backup of; name another folder`,
    ]);
  }
  return {
    dir,
    async requireRoom(bytes) {
      const { bavail, bsize } = await statfs(dir);
      const free = bavail * bsize;
      if (free >= bytes) return;
      throw new InputError([
        `${dir} has room for ${free} bytes, and the backup takes ${bytes}; free some, name a folder on another disk, or link what an older backup has (--base)`,
      ]);
    },
    empty() {
      for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
      if (isNew) rmSync(dir, { recursive: true });
    },
  };
}

/** @returns whether the folder was not there before */
function prepare(dir: string): boolean {
  try {
    const made = mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!statSync(dir).isDirectory()) throw new Error('it is not a folder');
    if (made === undefined && readdirSync(dir).length > 0)
      throw new Error('it is not empty; every backup has a folder of its own');
    const trial = join(dir, TRIAL_FILE);
    replaceFile(trial, '');
    rmSync(trial);
    return made !== undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file, not a folder' : messageOf(error);
    throw new InputError([`${dir} cannot take a backup: ${why}`], { cause: error });
  }
}
