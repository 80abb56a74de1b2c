import type { SyntaxNode } from '../syntax-tree.ts';
import { refuse } from './refusal.ts';

/**
 * Function → place of its first argument that may be a time zone, from 0. The engine opens a file for a zone that it has not loaded
 * yet (`file:/dev/ptmx` never returns, and no kill helps), and keeps 5 MB for each name for ever: so a zone is a text on a list.
 * test/query/sandbox/time-zone.test.ts asks the engine for this of every function that may be called.
 */
export const ZONE_PLACES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    1: `toString toDate toDate32 toDateTime toDateTimeOrNull toDateTimeOrZero parseDateTimeBestEffort parseDateTimeBestEffortOrNull
      parseDateTimeBestEffortOrZero toYear toQuarter toMonth toISOWeek toISOYear toDayOfYear toDayOfMonth toHour toMinute toSecond
      toMillisecond toMicrosecond toUnixTimestamp fromUnixTimestamp64Second fromUnixTimestamp64Milli fromUnixTimestamp64Micro
      fromUnixTimestamp64Nano toStartOfYear toStartOfQuarter toStartOfMonth toMonday toStartOfDay toStartOfHour
      toStartOfFifteenMinutes toStartOfTenMinutes toStartOfFiveMinutes toStartOfMinute toStartOfSecond toStartOfMillisecond
      toStartOfISOYear toLastDayOfMonth toTimezone toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss toRelativeDayNum toRelativeHourNum
      toRelativeMinuteNum toRelativeSecondNum timeSlot date year quarter month day hour minute second`,
    2: `toDateTime64 toDateTime64OrNull toDateTime64OrZero parseDateTime64BestEffort parseDateTime64BestEffortOrNull
      parseDateTime64BestEffortOrZero toWeek week toDayOfWeek toStartOfWeek toStartOfInterval fromUnixTimestamp dateTrunc dateName
      formatDateTime addYears addQuarters addMonths addWeeks addDays addHours addMinutes addSeconds addMilliseconds
      addMicroseconds subtractYears subtractQuarters subtractMonths subtractWeeks subtractDays subtractHours subtractMinutes
      subtractSeconds subtractMilliseconds subtractMicroseconds`,
    3: 'dateDiff date_diff timestampDiff age',
    6: 'makeDateTime',
  }).flatMap(([place, names]) =>
    names
      .toLowerCase()
      .split(/\s+/)
      .map((name) => [name, Number(place)] as const),
  ),
);

// The origin of toStartOfInterval stands where its zone may; what these give is never a text.
const TIMES = /^(?:toDate|toDate32|toDateTime|toDateTime64)(?: |$)/i;

/** Whether what stands in the place of a zone is none, as the precision in `toStartOfInterval(t, INTERVAL 1 DAY, toDate(0))`. */
export function isNoZone(argument: SyntaxNode): boolean {
  if (argument.kind === 'Literal') return /^U?Int64_\d+(?: |$)/.test(argument.text);
  return argument.kind === 'Function' && TIMES.test(argument.text);
}

/** As 5 MB each never come back: 160 MB in all. */
const ZONES_MAX = 32;

// Not what depends on the machine (`localtime`), nor any path.
const ZONE_NAME = /^[A-Z][A-Za-z0-9_]*(?:[/+-][A-Za-z0-9_]+){0,4}$/;

/** The zones that callers may use, and those that they have used. */
export interface TimeZones {
  /** @throws TailraceError `invalid_parameter` for any but a zone of the list */
  check(zone: string): void;
  /** Counts zones as used. @throws TailraceError `invalid_parameter` where they are more than the engine is to load */
  use(zones: Iterable<string>): void;
}

/** @param listed the zones that the engine has within itself */
export function createTimeZones(listed: Iterable<string>): TimeZones {
  const known = new Set([...listed].filter((zone) => ZONE_NAME.test(zone)));
  const used = new Set(['UTC']);
  return {
    check(zone) {
      if (known.has(zone)) return;
      throw refuse(`must not have the time zone ${JSON.stringify(zone.slice(0, 60))}; ${ZONE_HINT}`);
    },
    use(zones) {
      const all = new Set([...used, ...zones]);
      if (all.size > ZONES_MAX)
        throw refuse(
          `cannot have one more time zone: the engine keeps each that was ever asked for, and has ${used.size} of at most ${ZONES_MAX}; those are ${[...used].join(', ')}`,
        );
      for (const zone of all) used.add(zone);
    },
  };
}

export const ZONE_HINT = "a time zone is a name of the tz database, written out: 'UTC', 'Europe/Berlin'";
