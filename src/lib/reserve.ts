import { randomBytes } from 'node:crypto';
import { rmSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readFreeBytes } from './file.ts';
import { isOutOfSpace } from './system-failure.ts';

/** A file whose bytes are given back on a full disk to what must work there: deletions, retention, changes of keys. */
export type Reserve = ReturnType<typeof createReserve>;

// The engine writes nothing, not even the removal of a day, below 1 MB, and merges of small files may take a half of
// what is free.
export const RESERVE_BYTES = 8 * 1024 * 1024;
/** What SQLite's journal, locks and small files need. */
export const SHARE_BYTES = 1024 * 1024;
// Left beside the file, so that it does not fill the disk itself.
const ROOM_BYTES = 2 * SHARE_BYTES;

/** @param readFree free bytes on the disk; `undefined` if unknown */
export function createReserve(dataDir: string, readFree = () => readFreeBytes(dataDir)) {
  const missing = () => RESERVE_BYTES - sizeOf(fileOf(dataDir));
  let isKept = false;
  let hasNoRoom = false;

  async function fill(): Promise<void> {
    await using handle = await open(fileOf(dataDir), 'a', 0o600);
    // Random bytes: a file system may compress others, or store nothing for zeros.
    while (missing() > 0) await handle.writeFile(randomBytes(Math.min(missing(), SHARE_BYTES)));
  }

  return {
    /** Gives back so many bytes if less is free. Default: all of them, for the engine. */
    async free(bytes = RESERVE_BYTES): Promise<void> {
      if (((await readFree()) ?? bytes) < bytes) giveBack(dataDir, bytes);
    },
    /** Fills the file up if there is room for it, and so much is left. For a task. */
    async keep(roomBytes = ROOM_BYTES): Promise<void> {
      hasNoRoom = missing() > 0 && ((await readFree()) ?? Number.POSITIVE_INFINITY) < missing() + roomBytes;
      if (hasNoRoom) return;
      await fill().catch((error: unknown) => {
        hasNoRoom = isOutOfSpace(error);
        throw error;
      });
      isKept = true;
    },
    /** Whether the disk has no room for the whole file: a command may have taken some. What is left is not for events. */
    isSpent: () => hasNoRoom || (isKept && missing() > 0),
  };
}

/** Runs `work`, and again with a share of the reserve if the disk is full. */
export function withReserve<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isFull = isOutOfSpace(error) || (error instanceof Error && isOutOfSpace(error.cause));
    if (!isFull || !giveBack(dataDir, SHARE_BYTES)) throw error;
    return work();
  }
}

/** @returns whether there was anything */
function giveBack(dataDir: string, bytes: number): boolean {
  const file = fileOf(dataDir);
  const size = sizeOf(file);
  if (size > bytes) truncateSync(file, size - bytes);
  else rmSync(file, { force: true });
  return size > 0;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

const fileOf = (dataDir: string) => join(dataDir, 'reserve');
