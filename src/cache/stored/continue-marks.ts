import type { StoreFingerprint } from '../../engine/store-fingerprint.ts';
import type { WriteMarks } from '../../engine/write-marks.ts';
import { MICROS_PER_MINUTE, parseInstant } from '../../lib/instant.ts';
import type { EarlierState } from './file.ts';

const DAY_MINUTES = 1_440;
// Of one table; beyond it all of it counts as changed.
const CHANGED_DAYS_MAX = 14;

/**
 * Continues the write marks of an earlier process, and marks what has changed since they were saved, by the engine's records: the last
 * writes of a process that was killed, and those of other programs.
 */
export function continueMarks(
  writes: WriteMarks,
  earlier: EarlierState,
  { tables, fingerprint }: { readonly tables: readonly string[]; readonly fingerprint: StoreFingerprint },
): void {
  writes.restore(earlier.marks);
  for (const name of tables) {
    const [before, after] = [earlier.tables.get(name), fingerprint.get(name)];
    const isSame = before !== undefined && before.table === after?.table && !after.isRewriting;
    const days = isSame ? findChanged(before.days, after.days) : undefined;
    if (days === undefined || days.length > CHANGED_DAYS_MAX) writes.mark(name);
    else if (days.length > 0) writes.mark(name, days.flatMap(minutesOf));
  }
}

type Days = ReadonlyMap<string, string>;

function findChanged(before: Days, after: Days): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (day) => before.get(day) !== after.get(day),
  );
}

/** The minutes of a day such as `2026-11-20`, since 1970. */
function minutesOf(day: string): number[] {
  const start = parseInstant(`${day}T00:00:00Z`);
  if (start === undefined) throw new Error(`${day} is not a day`); // tables have daily partitions
  return Array.from({ length: DAY_MINUTES }, (_, minute) => start / MICROS_PER_MINUTE + minute);
}
