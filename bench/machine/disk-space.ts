import { statfsSync } from 'node:fs';

/** Left free for everything else on the machine. */
const RESERVE_BYTES = 5e9;
const GB = 1e9;

/**
 * Why a folder's file system has no room for so many more bytes; `undefined` if it has.
 *
 * @param folder exists
 * @param freeBytes by default as the file system reports it
 */
export function findShortage(
  folder: string,
  bytes: number,
  freeBytes = readFree(folder),
): string | undefined {
  if (bytes + RESERVE_BYTES <= freeBytes) return undefined;
  const [needed, reserve, free] = [bytes, RESERVE_BYTES, freeBytes].map(toGb);
  return `needs ${needed} GB and ${reserve} GB of reserve; ${folder} has ${free} GB free`;
}

function readFree(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function toGb(bytes: number): string {
  return (bytes / GB).toLocaleString('en', { maximumFractionDigits: 1 });
}
