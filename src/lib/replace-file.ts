import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that its owner alone can read, or another in its place, so that a crash leaves the old one or the new one, whole. */
export function replaceFile(file: string, text: string): void {
  const part = `${file}.part`;
  const descriptor = openSync(part, 'w', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(part, file);
  syncFolder(dirname(file));
}

/** Makes the names in a folder survive a crash of the machine. */
export function syncFolder(dir: string): void {
  const descriptor = openSync(dir, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the bytes of a file survive a crash of the machine; of one that is gone there are none. */
export async function syncFile(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
