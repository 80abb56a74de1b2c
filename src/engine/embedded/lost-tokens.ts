import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes the deduplication tokens of interrupted inserts. The engine logs a token just before it renames the part, so
 * a process killed in between leaves a token without rows. The engine would treat a retry with that token as a
 * duplicate, and its events would be lost.
 *
 * Call only while no insert runs. The engine reads the tokens when it opens the store.
 *
 * @param storeDir the engine's directory
 * @returns the number of removed tokens; if above 0, an engine with the store open must open it again
 */
export async function removeLostTokens(storeDir: string): Promise<number> {
  // A table is in store/<first letters of its id>/<id>.
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
  // Newest first: inserts before an existing part were not interrupted.
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

/**
 * Parses the directory of a part, such as `20261120_3_7_1`: a day, the first and last insert in it, the number of its
 * merges.
 */
function parsePart(name: string) {
  const [, day, first, last] = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name) ?? [];
  return day === undefined ? undefined : { day, first: Number(first), last: Number(last) };
}

/** Whether a line names a part that neither exists nor was merged into an existing one. */
function isLost(line: string, parts: readonly Part[]): boolean {
  const [, name = ''] = ADDED.exec(line.trimEnd()) ?? [];
  const lost = parsePart(name);
  if (lost === undefined) return false;
  return !parts.some(({ day, first, last }) => day === lost.day && first <= lost.first && last >= lost.last);
}

type Part = NonNullable<ReturnType<typeof parsePart>>;

function numberOf(log: string): number {
  return Number(/\d+/.exec(log)?.[0]);
}

/** Lists the names in a directory; none if it does not exist. */
async function list(dir: string): Promise<string[]> {
  return await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
