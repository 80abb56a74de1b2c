import type { Source } from '../definitions/source.ts';
import type { StoredDay } from '../engine/store-state.ts';
import { storedTable } from '../engine/table.ts';
import type { ClockReading } from '../lib/clock-guard.ts';
import type { DueDays, HoldReason } from './file.ts';

export interface PlanInput {
  /** The days of all tables, oldest first. */
  readonly days: readonly StoredDay[];
  readonly sources: readonly Source[];
  readonly cluster: string;
  readonly clock: ClockReading;
  /** Most disk that all events together may take; 0 for no bound. */
  readonly storeBytesMax: number;
  /** The same bound at the last run; 0 if there was none. */
  readonly storeBytesMaxBefore: number;
  /** More of a source than this is not deleted at once without a confirmation. */
  readonly dropPercentMax: number;
  /** So many days of a source may be deleted at once, whatever their share: they become due only by time. */
  readonly freeDaysMax: number;
  /** Days that an operator has confirmed. */
  readonly isConfirmed: (day: StoredDay) => boolean;
}

const DAY_MS = 86_400_000;

/**
 * Finds due days: those wholly beyond the retention of their source, then the oldest of all while the store is larger than
 * its bound. Today is never due, since deleting it would lose events that have just been acknowledged. Tables without a source
 * are neither deleted nor counted: the operator who removed the source decides about their events.
 */
export function planRetention(input: PlanInput): DueDays[] {
  const { sources, cluster, days: all } = input;
  const byTable = new Map(sources.map((source) => [storedTable(source, cluster), source]));
  const days = all.filter(({ table }) => byTable.has(table));
  const byAge = [...byTable].flatMap(([table, source]) => {
    const own = days.filter((day) => day.table === table);
    return planAge(own, source, input);
  });
  const dropped = new Set(byAge.filter(({ held }) => held === undefined).flatMap((due) => due.days));
  const left = days.filter((day) => !dropped.has(day));
  return [...byAge, ...planSize(left, byTable, input)];
}

function planAge(days: readonly StoredDay[], source: Source, input: PlanInput): DueDays[] {
  const { clock, dropPercentMax, freeDaysMax, isConfirmed } = input;
  const oldestMs = clock.clockMs - source.retentionDays * DAY_MS;
  const due = days.filter(({ day }) => Date.parse(day) + DAY_MS <= oldestMs);
  if (due.length === 0) return [];
  const percent = percentOf(sum(due, 'rows'), sum(days, 'rows'));
  const isLarge = due.length > freeDaysMax && percent > dropPercentMax && !due.every(isConfirmed);
  const held = clock.state === 'ahead' ? 'clock' : isLarge ? 'share' : undefined;
  return [{ source: source.name, reason: 'age', days: due, percent, ...(held && { held }) }];
}

/** Plans deletions by size. Only a lowered bound can be held for its share: with an unchanged one, a full disk would lose new events. */
function planSize(
  days: readonly StoredDay[],
  byTable: ReadonlyMap<string, Source>,
  input: PlanInput,
): DueDays[] {
  const { clock, storeBytesMax: bytesMax, storeBytesMaxBefore: before, isConfirmed } = input;
  if (bytesMax === 0) return [];
  const today = new Date(Math.min(clock.clockMs, clock.plausibleMs)).toISOString().slice(0, 10);
  const due = beyondSize(days, bytesMax, today);
  const percent = percentOf(sum(due, 'bytes'), sum(days, 'bytes'));
  const isLowered = before === 0 || bytesMax < before;
  const dates = new Set(due.map(({ day }) => day));
  const isLarge = dates.size > input.freeDaysMax && percent > input.dropPercentMax;
  const isHeld = isLowered && isLarge && !due.every(isConfirmed);
  // Until an operator confirms it, the previous bound holds.
  const free = new Set(isHeld ? beyondSize(days, before, today) : due);
  const group = (some: readonly StoredDay[], held: HoldReason | undefined): DueDays[] =>
    [...byTable].flatMap(([table, source]) => {
      const own = some.filter((day) => day.table === table);
      const hold = held && { held };
      return own.length === 0 ? [] : [{ source: source.name, reason: 'size', days: own, percent, ...hold }];
    });
  const held = due.filter((day) => !free.has(day));
  return [...group([...free], undefined), ...group(held, 'share')];
}

function beyondSize(days: readonly StoredDay[], bytesMax: number, today: string): StoredDay[] {
  if (bytesMax === 0) return [];
  let bytes = sum(days, 'bytes');
  const dropped: StoredDay[] = [];
  for (const day of days) {
    if (bytes <= bytesMax || day.day >= today) break;
    bytes -= day.bytes;
    dropped.push(day);
  }
  return dropped;
}

function sum(days: readonly StoredDay[], of: 'rows' | 'bytes'): number {
  return days.reduce((total, day) => total + day[of], 0);
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}
