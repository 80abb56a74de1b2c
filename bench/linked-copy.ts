import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchData } from './data.ts';
import { withFolder } from './folder.ts';

/** Column files are never written again once they are there; the rest is small, and some of it is appended to. */
const WRITTEN_ONCE = '.bin';
/** A lock is the file's own, so a linked one would be held by every copy. */
const NOT_COPIED = new Set(['lock.sqlite', 'owner.txt']);

/**
 * Runs `work` on a copy of the data of its own and removes it afterwards: a store belongs to one process, events may be
 * added to it, and the data that is kept for the next run must stay as it is. The copy shares the files of the columns
 * with it (hard links beside it, on the same file system), so it takes a moment and no space, however many rows there are.
 */
export async function withLinkedCopy<T>(
  { dataDir, endMs }: BenchData,
  work: (copy: BenchData) => Promise<T>,
): Promise<T> {
  return await withFolder(`${dataDir}.copy-`, async (folder) => {
    linkTree(dataDir, folder);
    return await work({ dataDir: folder, endMs });
  });
}

function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    // Symbolic links are the engine's, for people only; it makes them again.
    else if (!entry.isFile() || NOT_COPIED.has(entry.name)) continue;
    else if (entry.name.endsWith(WRITTEN_ONCE)) linkSync(source, target);
    else copyFileSync(source, target);
  }
}
