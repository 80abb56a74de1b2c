import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchData } from './data.ts';
import { withFolder } from './folder.ts';

/** Column files never change; all others are small, and some are appended to. */
const WRITTEN_ONCE = '.bin';
/** A lock belongs to the inode, so a hard link would be locked in every copy. */
const NOT_COPIED = new Set(['lock.sqlite', 'owner.txt']);

/**
 * Runs `work` on a copy of the data and removes it afterwards: a store belongs to one process, events may be
 * added to it, and the data for the next run must not change. The copy shares the files of the columns
 * (hard links on the same file system), so it takes no time and no space, however many rows there are.
 */
export async function withLinkedCopy<T>(
  { dataDir, ...rest }: BenchData,
  work: (copy: BenchData) => Promise<T>,
): Promise<T> {
  return await withFolder(`${dataDir}.copy-`, async (folder) => {
    linkTree(dataDir, folder);
    return await work({ ...rest, dataDir: folder });
  });
}

/** Creates the same tree below `to`. */
export function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    // The engine recreates its symbolic links.
    else if (!entry.isFile() || NOT_COPIED.has(entry.name)) continue;
    else if (entry.name.endsWith(WRITTEN_ONCE)) linkSync(source, target);
    else copyFileSync(source, target);
  }
}
