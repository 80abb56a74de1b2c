import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes the deduplication tokens of inserts that were cut off. The engine logs a token just before it renames the part, so a
 * process killed in between leaves a token without rows. An insert retried with it would be taken for a duplicate, and its
 * events would be lost.
 *
 * Call only while no insert runs. The engine reads the tokens when it opens the store.
 *
 * @param storeDir the engine's directory
 * @returns how many were removed; if any, an engine that has the store open must open it again
 */
export async function removeLostTokens(storeDir: string): Promise<number> {
  // Tables are where the engine's default database engine has them: store/<first letters of the id>/<id>.
  const root = join(storeDir, 'store');
  let removed = 0;
  for (const prefix of await list(root))
    for (const id of await list(join(root, prefix))) removed += await removeFrom(join(root, prefix, id));
  return removed;
}

// A log line: operation, part, hash of the token.
const ADDED = /^1\t([^\t]+)\t[^\t]+$/;

async function removeFrom(tableDir: string): Promise<number> {
  const logsDir = join(tableDir, 'deduplication_logs');
  const logs = (await list(logsDir)).toSorted((a, b) => numberOf(b) - numberOf(a));
  if (logs.length === 0) return 0;
  const parts = (await list(tableDir)).flatMap((name) => parsePart(name) ?? []);
  let removed = 0;
  // From the newest on: what came before a part that is there was not cut off.
  for (const log of logs) {
    const file = join(logsDir, log);
    const lines = (await readFile(file, 'latin1')).split(/(?<=\n)/);
    const kept = lines.findLastIndex((line) => !isLost(line, parts)) + 1;
    if (kept < lines.length) await truncate(file, lines.slice(0, kept).join('').length);
    removed += lines.length - kept;
    if (kept > 0) break;
  }
  return removed;
}

interface Part {
  readonly partition: string;
  readonly min: number;
  readonly max: number;
}

/** A part by its directory, such as `20261120_3_7_1`: a day, the first and last insert in it, how often it was merged. */
function parsePart(name: string): Part | undefined {
  const [, partition, min, max] = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name) ?? [];
  return partition === undefined ? undefined : { partition, min: Number(min), max: Number(max) };
}

/** Whether a line names a part that neither exists nor was merged into an existing one. */
function isLost(line: string, parts: readonly Part[]): boolean {
  const [, name = ''] = ADDED.exec(line.trimEnd()) ?? [];
  const part = parsePart(name);
  if (part === undefined) return false;
  const { partition, min, max } = part;
  return !parts.some((one) => one.partition === partition && one.min <= min && one.max >= max);
}

function numberOf(log: string): number {
  return Number(/\d+/.exec(log)?.[0]);
}

/** The names in a directory; none if it does not exist. */
async function list(dir: string): Promise<string[]> {
  return await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
