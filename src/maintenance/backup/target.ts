import { readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { InputError } from '../../errors.ts';
import { readFreeBytes } from '../../lib/file.ts';
import { describeFolderFailure, makeFolder } from '../../lib/folder.ts';
import { toStartError } from '../../lib/system-failure.ts';

/** The folder that a backup is written into, created if missing. No other backup can use it until `release`. */
export interface BackupTarget {
  readonly dir: string;
  /** @throws InputError if the disk has less space */
  requireRoom(bytes: number): Promise<void>;
  /** Removes everything that was written, so that the folder can be used again. */
  empty(): void;
  /** Call it when the backup is complete. */
  release(): void;
}

// Exists while a backup is written, so that a second backup finds the folder in use.
const CLAIM_FILE = '.tailrace-backup';
const NOT_EMPTY = 'it is not empty; name a new folder for each backup';

/** @throws InputError if the folder is not empty, cannot be written, or is within the data directory */
export function openTarget(dir: string, dataDir: string): BackupTarget {
  const isNew = prepare(dir);
  const [target, data] = [realpathSync(dir), realpathSync(dataDir)];
  const within = relative(data, target);
  if (within === '' || !(within.startsWith('..') || within.startsWith('/'))) {
    rmSync(join(dir, CLAIM_FILE));
    if (isNew) rmSync(dir, { recursive: true });
    throw new InputError([
      `${dir} lies in the data directory ${dataDir}, which it is a backup of; name another folder`,
    ]);
  }
  return {
    dir,
    async requireRoom(bytes) {
      const free = await readFreeBytes(dir);
      if (free === undefined || free >= bytes) return;
      throw new InputError([
        `${dir} has room for ${free} bytes, and the backup takes ${bytes}; free some, name a folder on another disk, or link what an older backup has (--base)`,
      ]);
    },
    empty() {
      for (const name of readdirSync(dir).filter((one) => one !== CLAIM_FILE))
        rmSync(join(dir, name), { recursive: true });
      this.release();
      if (isNew) rmSync(dir, { recursive: true });
    },
    release: () => rmSync(join(dir, CLAIM_FILE), { force: true }),
  };
}

/** @returns whether the folder was created */
function prepare(dir: string): boolean {
  try {
    const isNew = makeFolder(dir, 0o700);
    const claim = join(dir, CLAIM_FILE);
    writeFileSync(claim, '', { flag: 'wx', mode: 0o600 });
    if (readdirSync(dir).some((name) => name !== CLAIM_FILE)) {
      rmSync(claim);
      throw new Error(NOT_EMPTY);
    }
    return isNew;
  } catch (error) {
    throw toStartError(`${dir} cannot hold a backup: ${describe(error)}`, error);
  }
}

function describe(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' && syscall === 'open') return NOT_EMPTY; // claimed by a running or killed backup
  return describeFolderFailure(error);
}
