import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDeadline } from '../../lib/abort.ts';
import { EngineError } from '../process/channel.ts';
import { type EngineProcess, endProcess, startEngineProcess } from '../process/engine-process.ts';
import type { EmbeddedSessions } from './sessions.ts';

/**
 * Starts an engine process and opens its sessions.
 *
 * @param signal ends the process when it aborts before the sessions are open
 * @throws EngineError when the engine cannot open the store; the signal's reason; EngineLostError. Then the process has
 *   ended
 */
async function openProcess(sessions: EmbeddedSessions, signal?: AbortSignal): Promise<EngineProcess> {
  const { storeDir, env, requests } = sessions;
  signal?.throwIfAborted();
  const process = startEngineProcess(requests.length, env);
  const end = () => process.kill();
  const open = (from: number, to?: number) =>
    Promise.all(requests.slice(from, to).map((request, i) => process.ask(from + i, request)));
  signal?.addEventListener('abort', end, { once: true });
  try {
    await open(0, 1);
    // Not earlier: until here the process of a killed service may still hold the store.
    if ((await removeLostTokens(storeDir)) > 0) {
      await endProcess(process);
      return await openProcess(sessions, signal);
    }
    await open(1);
    return process;
  } catch (error) {
    await endProcess(process);
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

// The engine process of a killed service ends a moment later, and holds the store until then. The engine only prints
// that reason, so every failure to open is retried.
const OPENS_MAX = 5;
const OPEN_AGAIN_MS = 300;
const NOT_OPENED = 'Failed to create connection';
// A store that opened within a second may need ten when the machine is busy; a process that needs longer is stuck.
const OPEN_MS_MIN = 30_000;
const OPEN_TIMES_MAX = 10;

/**
 * Opens the first process of a service. Retries while the engine process of an earlier service holds the store.
 *
 * @returns the process, and a function that starts the next ones within a timeout derived from the first one's time
 */
export async function openFirst(sessions: EmbeddedSessions) {
  for (let opens = 1; ; opens++) {
    const startedMs = performance.now();
    try {
      const first = await openProcess(sessions);
      const msMax = Math.round(Math.max(OPEN_MS_MIN, OPEN_TIMES_MAX * (performance.now() - startedMs)));
      const late = () => new Error(`the engine process did not open the store within ${msMax} ms`);
      const start = async (signal: AbortSignal) => {
        const deadline = createDeadline(msMax, late, signal);
        return await openProcess(sessions, deadline.signal).finally(deadline.clear);
      };
      return { first, start };
    } catch (error) {
      const isClosed = error instanceof EngineError && error.message.startsWith(NOT_OPENED);
      if (!isClosed || opens >= OPENS_MAX) throw error;
      await pause(OPEN_AGAIN_MS);
    }
  }
}

/** Closes the sessions once their requests are done; the process still runs. */
export async function closeSessions(process: EngineProcess, { requests }: EmbeddedSessions): Promise<void> {
  await Promise.allSettled(requests.map((_, channel) => process.ask(channel, { op: 'close' })));
}

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
async function removeLostTokens(storeDir: string): Promise<number> {
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
