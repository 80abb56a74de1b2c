import { fromMicros } from '../../format/time.ts';
import { type LogEntry, olderThan } from './log.ts';

/** The entries within the values of the form, with `change` in their place: newest first, and only so many of the newest. */
export type Read = (change: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<LogEntry[]>;

/** What a browser lists and searches with ease. */
export const ENTRIES_MAX = 10_000;

interface Older {
  /** Name of the parameter that bounds the time above. */
  readonly end: string;
  readonly shown: readonly LogEntry[];
  readonly signal: AbortSignal;
}

/** Those before the oldest that is shown; none where there are no more. */
export async function readOlder(read: Read, { end, shown, signal }: Older): Promise<LogEntry[]> {
  const oldest = shown.at(-1);
  if (oldest === undefined) return [];
  const known = new Set(shown.map((entry) => entry.id));
  const page = await read({ [end]: olderThan(oldest, false) }, signal);
  const found = page.filter((entry) => !known.has(entry.id));
  // Everything of that microsecond has been seen: go on before it.
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
 * Those since the newest that is shown, without a gap: an answer holds only the newest, so where more have come in than it holds
 * the others are read page by page, down to the one that was known. At most `ENTRIES_MAX`; all that is older leaves the list then.
 *
 * The bound is exclusive, but others of the same microsecond may have come since: it is put just before it.
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
