import type { Engine } from './engine.ts';

/** A number that rises with every change of the store. */
export type WriteVersion = number;

/**
 * For each minute of event time the version of the last write to it. With the version from before a query, a refresh can tell
 * which parts of the answer may have changed.
 */
export interface WriteMarks {
  readonly version: WriteVersion;
  /** Minutes of event time (since 1970) with events that may have changed since `version`; `undefined`: any may have. */
  changedMinutes(table: string, version: WriteVersion): MinuteSet | undefined;
  /** Whether any events of a table may have changed since `version`. */
  hasChanged(table: string, version: WriteVersion): boolean;
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
  /** The last write. */
  lastVersion: WriteVersion;
}

/**
 * @param minutesMax marks of one table; beyond it those of the oldest half become one: memory stays bounded, and events
 * of long ago cost a refresh more work than necessary
 */
export function createWriteMarks(minutesMax: number): WriteMarks {
  const tables = new Map<string, TableMarks>();
  let version: WriteVersion = 0;
  let allVersion: WriteVersion = 0;

  function getTable(name: string): TableMarks {
    const known = tables.get(name);
    if (known !== undefined) return known;
    const marks = {
      minutes: new Map(),
      olderBefore: -Infinity,
      olderVersion: 0,
      wholeVersion: 0,
      lastVersion: 0,
    };
    tables.set(name, marks);
    return marks;
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
    hasChanged: (table, since) => Math.max(allVersion, tables.get(table)?.lastVersion ?? 0) > since,
    mark(table, minutes) {
      const marks = getTable(table);
      version++;
      marks.lastVersion = version;
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
  const half = Math.floor(sorted.length / 2);
  for (const minute of sorted.slice(0, half)) {
    marks.olderVersion = Math.max(marks.olderVersion, marks.minutes.get(minute) ?? 0);
    marks.minutes.delete(minute);
  }
  marks.olderBefore = sorted[half] ?? Infinity;
}

/**
 * Wraps an engine to mark every write: before it, so that answers of queries that may or may not have seen it are refreshed later,
 * and after it, even if it failed, before it is acknowledged.
 */
export function watchWrites(engine: Engine, marks: WriteMarks): Engine {
  async function marked<T>(mark: () => void, change: () => Promise<T>): Promise<T> {
    mark();
    return await change().finally(mark);
  }
  return {
    ...engine,
    insert(batch) {
      const mark = () => marks.mark(batch.table, batch.minutes);
      return marked(mark, () => engine.insert(batch));
    },
    command: (sql) => marked(marks.markAll, () => engine.command(sql)),
    setReadFilters: (filters) => marked(marks.markAll, () => engine.setReadFilters(filters)),
  };
}
