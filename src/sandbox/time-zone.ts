import { byName } from './function.ts';
import { invalidSql } from './rejection.ts';
import type { SyntaxNode } from './syntax-tree.ts';

/**
 * Function → place of its first argument that may be a time zone, from 0. For a zone that it has not loaded yet the
 * engine opens a file, and `file:/dev/ptmx` blocks it for good; it never frees the 5 MB of a loaded zone. So a zone
 * must be a constant from a list. test/sandbox/time-zone.timed.test.ts checks the places with the engine for every
 * allowed function.
 */
export const ZONE_PLACES = byName([
  [
    `toString toDate toDate32 toDateTime toDateTimeOrNull toDateTimeOrZero parseDateTimeBestEffort
      parseDateTimeBestEffortOrNull
      parseDateTimeBestEffortOrZero toYear toQuarter toMonth toISOWeek toISOYear toDayOfYear toDayOfMonth toHour
      toMinute toSecond
      toMillisecond toMicrosecond toUnixTimestamp fromUnixTimestamp64Second fromUnixTimestamp64Milli fromUnixTimestamp64Micro
      fromUnixTimestamp64Nano toStartOfYear toStartOfQuarter toStartOfMonth toMonday toStartOfDay toStartOfHour
      toStartOfFifteenMinutes toStartOfTenMinutes toStartOfFiveMinutes toStartOfMinute toStartOfSecond toStartOfMillisecond
      toStartOfISOYear toLastDayOfMonth toTimezone toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss toRelativeDayNum toRelativeHourNum
      toRelativeMinuteNum toRelativeSecondNum timeSlot date year quarter month day hour minute second`,
    1,
  ],
  [
    `toDateTime64 toDateTime64OrNull toDateTime64OrZero parseDateTime64BestEffort parseDateTime64BestEffortOrNull
      parseDateTime64BestEffortOrZero toWeek week toDayOfWeek toStartOfWeek toStartOfInterval fromUnixTimestamp
      dateTrunc dateName
      formatDateTime addYears addQuarters addMonths addWeeks addDays addHours addMinutes addSeconds addMilliseconds
      addMicroseconds subtractYears subtractQuarters subtractMonths subtractWeeks subtractDays subtractHours subtractMinutes
      subtractSeconds subtractMilliseconds subtractMicroseconds`,
    2,
  ],
  ['dateDiff date_diff timestampDiff age', 3],
  ['makeDateTime', 6],
]);

// The origin of toStartOfInterval has the place of its zone. The results of these functions are never texts.
const TIMES = /^(?:toDate|toDate32|toDateTime|toDateTime64)(?: |$)/i;

/**
 * Whether an argument at the position of a zone is not one, such as the origin in `toStartOfInterval(t, INTERVAL 1 DAY,
 * toDate(0))`.
 */
export function isNoZone(argument: SyntaxNode): boolean {
  if (argument.kind === 'Literal') return /^U?Int64_\d+(?: |$)/.test(argument.text);
  return argument.kind === 'Function' && TIMES.test(argument.text);
}

/** 160 MB in all. */
const ZONES_MAX = 32;

// Excludes paths, and names that depend on the machine (`localtime`).
const ZONE_NAME = /^[A-Z][A-Za-z0-9_]*(?:[/+-][A-Za-z0-9_]+){0,4}$/;

export type TimeZones = ReturnType<typeof createTimeZones>;

/** The zones that callers may use, and the count of those in use. @param listed the zones that the engine ships with */
export function createTimeZones(listed: Iterable<string>) {
  const known = new Set([...listed].filter((zone) => ZONE_NAME.test(zone)));
  const used = new Set(['UTC']);
  return {
    /** @throws TailraceError `invalid_parameter` for a zone that is not listed */
    check(zone: string): void {
      if (known.has(zone)) return;
      throw invalidSql(`must not have the time zone ${JSON.stringify(zone.slice(0, 60))}; ${ZONE_HINT}`);
    },
    /** Counts zones as used. @throws TailraceError `invalid_parameter` if the engine would load too many */
    use(zones: Iterable<string>): void {
      const all = new Set([...used, ...zones]);
      if (all.size > ZONES_MAX)
        throw invalidSql(
          'cannot have one more time zone: the engine keeps each that was ever asked for, and has ' +
            `${used.size} of at most ${ZONES_MAX}; those are ${[...used].join(', ')}`,
        );
      for (const zone of all) used.add(zone);
    },
  };
}

export const ZONE_HINT = "a time zone is a name of the tz database, written out: 'UTC', 'Europe/Berlin'";
