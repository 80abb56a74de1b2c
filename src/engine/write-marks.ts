import type { Engine } from './engine.ts';

/** A number that goes up with every change of the store. */
export type WriteVersion = number;

/**
 * Which minutes changed, and when: for each minute of event time the version of the last write that touched it. With the version
 * from before a query, a refresh knows which parts of the answer may have changed.
 */
export interface WriteMarks {
  readonly version: WriteVersion;
  /** Minutes of event time (since 1970) with events that may have changed since `version`; `undefined`: any may have. */
  changedMinutes(table: string, version: WriteVersion): MinuteSet | undefined;
  /** @param minutes left out: any may have changed */
  mark(table: string, minutes?: Iterable<number>): void;
  /** Every table may have changed. */
  markAll(): void;
}

export interface MinuteSet {
  /** All minutes before this one; `-Infinity` if there are none. */
  readonly before: number;
  readonly minutes: readonly number[];
}

/** Marks of one table. */
interface TableMarks {
  readonly minutes: Map<number, WriteVersion>;
  /** Earlier minutes are no longer tracked one by one. */
  olderBefore: number;
  olderVersion: WriteVersion;
  /** The last write with unknown minutes. */
  wholeVersion: WriteVersion;
}

/**
 * @param minutesMax marks of one table; beyond it those of the oldest half become one, so that late events of long ago cost
 * a refresh more work than they would need to, and memory stays bounded
 */
export function createWriteMarks(minutesMax: number): WriteMarks {
  const tables = new Map<string, TableMarks>();
  let version: WriteVersion = 0;
  let allVersion: WriteVersion = 0;

  function getTable(name: string): TableMarks {
    const known = tables.get(name);
    if (known !== undefined) return known;
    const made = { minutes: new Map(), olderBefore: -Infinity, olderVersion: 0, wholeVersion: 0 };
    tables.set(name, made);
    return made;
  }

  return {
    get version() {
      return version;
    },
    changedMinutes(table, since) {
      const marks = getTable(table);
      if (allVersion > since || marks.wholeVersion > since) return undefined;
      const minutes: number[] = [];
      for (const [minute, at] of marks.minutes) if (at > since) minutes.push(minute);
      return { before: marks.olderVersion > since ? marks.olderBefore : -Infinity, minutes };
    },
    mark(table, minutes) {
      const marks = getTable(table);
      version++;
      if (minutes === undefined) {
        marks.wholeVersion = version;
        return;
      }
      for (const minute of minutes) {
        if (minute < marks.olderBefore) marks.olderVersion = version;
        else marks.minutes.set(minute, version);
      }
      if (marks.minutes.size > minutesMax) forgetOldest(marks);
    },
    markAll() {
      allVersion = ++version;
    },
  };
}

function forgetOldest(marks: TableMarks): void {
  const sorted = [...marks.minutes.keys()].sort((a, b) => a - b);
  const kept = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
  for (const minute of sorted) {
    if (minute >= kept) break;
    marks.olderVersion = Math.max(marks.olderVersion, marks.minutes.get(minute) ?? 0);
    marks.minutes.delete(minute);
  }
  marks.olderBefore = kept;
}

/**
 * Wraps an engine to mark every write: before it, so that a query that may or may not have seen it is refreshed later, and after
 * it, also if it failed, before it is acknowledged.
 */
export function watchWrites(engine: Engine, marks: WriteMarks): Engine {
  async function marked<T>(mark: () => void, change: () => Promise<T>): Promise<T> {
    mark();
    return await change().finally(mark);
  }
  const all = () => marks.markAll();
  return {
    ...engine,
    insert: (batch) =>
      marked(
        () => marks.mark(batch.table, batch.minutes),
        () => engine.insert(batch),
      ),
    command: (sql) => marked(all, () => engine.command(sql)),
    setReadFilters: (filters) => marked(all, () => engine.setReadFilters(filters)),
  };
}
