import { fromMicros } from '../../format/time.ts';
import { type LogEntry, olderThan } from './log.ts';

/** Reads the newest entries for the form's values, some of them replaced by `change`; newest first. */
export type Read = (change: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<LogEntry[]>;

/** As many as a browser lists and searches smoothly. */
export const ENTRIES_MAX = 10_000;

interface Older {
  /** Name of the parameter that bounds the time above. */
  readonly end: string;
  readonly shown: readonly LogEntry[];
  readonly signal: AbortSignal;
}

/** Reads the entries before the oldest one shown. */
export async function readOlder(read: Read, { end, shown, signal }: Older): Promise<LogEntry[]> {
  const oldest = shown.at(-1);
  if (oldest === undefined) return [];
  const known = new Set(shown.map((entry) => entry.id));
  const page = await read({ [end]: olderThan(oldest, false) }, signal);
  const found = page.filter((entry) => !known.has(entry.id));
  // All entries of that microsecond are shown: continue before it.
  return found.length > 0 ? found : await read({ [end]: olderThan(oldest, true) }, signal);
}

interface Newer {
  /** Names of the parameters that bound the time. */
  readonly start: string;
  readonly end: string | undefined;
  readonly newest: LogEntry | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads the entries since the newest one shown, without a gap: an answer holds only the newest, so if more have arrived than it holds
 * the rest is read page by page. At most `ENTRIES_MAX`; older entries are then dropped from the list.
 *
 * The bound is exclusive, but more entries of the same microsecond may have arrived, so it is set just before it.
 */
export async function readNewer(read: Read, { start, end, newest, signal }: Newer): Promise<LogEntry[]> {
  const after = newest === undefined ? {} : { [start]: fromMicros(newest.micros - 1) };
  const found = await read({ ...after, ...(end !== undefined && { [end]: '' }) }, signal);
  if (newest === undefined || end === undefined) return found;
  const readAfter: Read = (change) => read({ ...after, ...change }, signal);
  let page = found;
  while (page.length > 0 && found.length < ENTRIES_MAX && !page.some(({ id }) => id === newest.id)) {
    page = await readOlder(readAfter, { end, shown: found, signal });
    found.push(...page);
  }
  return found;
}
