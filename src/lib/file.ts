import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically: after a crash it holds the old text or the new one. Only its owner can read it.
 *
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
export function makePrivateFile(file: string): void {
  withFile(file, 'a', (descriptor) => fchmodSync(descriptor, 0o600));
}

/** Syncs a folder, so that the names in it survive a crash of the machine. */
export function syncFolder(dir: string): void {
  withFile(dir, 'r', fsyncSync);
}

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
