import { statfs } from 'node:fs/promises';

/** Bytes that this process may still write to the disk of a folder; `undefined` where the system does not say. */
export async function readFreeBytes(dir: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
