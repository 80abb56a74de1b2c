import { findLongFault, findPatternFault, mayRescan } from '../sql/pattern.ts';
import { writeValue } from '../sql/sql.ts';
import { byName, isAllowedFunction, words } from './function.ts';
import { invalidSql, nameOf, type SyntaxNode, textOf } from './syntax-tree.ts';

export interface RuleContext {
  /** What a text in quotes stands for: a parameter, one that is a pattern, or `undefined` for a text of the caller's own. */
  readonly parameterKind: (text: string) => 'pattern' | 'value' | undefined;
  readonly zones: TimeZones;
  /** The time zones that the SELECT names; rules add to it. */
  readonly usedZones: Set<string>;
  /** Every alias of the SELECT. */
  readonly aliases: ReadonlySet<string>;
}

/** One call in EXPLAIN AST. */
interface Call {
  /** As the caller writes it. */
  readonly name: string;
  readonly args: readonly SyntaxNode[];
  readonly context: RuleContext;
}

type Rule = (call: Call) => void;

/** @throws TailraceError `invalid_parameter` if the arguments of an allowed function are not allowed */
export function checkArguments(node: SyntaxNode, context: RuleContext): void {
  const name = nameOf(node);
  const args = node.children[0]?.children ?? [];
  RULES.get(name.toLowerCase())?.({ name, args, context });
}

/** Whether calls of a function depend on its arguments. Passed by name, it would be called with any. */
export function isBoundByArguments(name: string): boolean {
  return RULES.has(name.toLowerCase());
}

/** A name by itself would be read as a table. */
const hasSet: Rule = ({ args: [, set] }) => {
  const isWritten = set?.kind === 'Function' && ['tuple', 'array'].includes(nameOf(set));
  if (set?.kind === 'Literal' || set?.kind === 'Subquery' || isWritten) return;
  throw invalidSql('must have a list or a SELECT after IN; for an array, call has(array, value)');
};

// Types of plain data, without states of aggregation and types with their own encoding.
const TYPES = new Set(
  words(`String Bool Int8 Int16 Int32 Int64 Int128 Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Float32 Float64
    Decimal Decimal32 Decimal64 Decimal128 Decimal256 Date Date32 DateTime DateTime32 DateTime64 UUID IPv4 IPv6 Array
    Tuple Map Nullable LowCardinality`),
);
const TYPE_CHARS_MAX = 500;
const TYPE_DEPTH_MAX = 8;
// A time zone is in single quotes, without escapes. Named values and comments are excluded.
const TYPE = /^(?:[\w\s(),]|'[^'\\]*')*$/;

const hasType: Rule = ({ args: [, argument], context }) => {
  const type = textOf(argument);
  if (type === undefined) throw rejectCast('a type that is not written out');
  if (type.length > TYPE_CHARS_MAX || !TYPE.test(type))
    throw rejectCast(`a type other than a short one, such as Nullable(DateTime('UTC'))`);
  const bare = type.replaceAll(/'[^']*'/g, '');
  const other = bare.match(/[A-Za-z_]\w*/g)?.find((word) => !TYPES.has(word.toLowerCase()));
  if (other !== undefined) throw rejectCast(other);
  if (depthOf(bare) > TYPE_DEPTH_MAX)
    throw rejectCast(`a type of more than ${TYPE_DEPTH_MAX} levels of brackets`);
  for (const [, zone = ''] of type.matchAll(/'([^']*)'/g)) takeZone(zone, context);
};

function rejectCast(what: string) {
  return invalidSql(`must not CAST to ${what}; types are ${[...TYPES].join(', ')}`);
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const sign of text) {
    if (sign === '(') deepest = Math.max(deepest, ++depth);
    else if (sign === ')') depth--;
  }
  return deepest;
}

function takeZone(zone: string, { zones, usedZones }: RuleContext): void {
  zones.check(zone);
  usedZones.add(zone);
}

/** From `place` on, each argument is a listed zone or cannot be a zone. */
const hasZoneAt =
  (place: number): Rule =>
  ({ name, args, context }) => {
    for (const argument of args.slice(place)) {
      if (isNoZone(argument)) continue;
      const zone = textOf(argument);
      if (zone === undefined)
        throw invalidSql(`must have the time zone of ${name} written out; ${ZONE_HINT}`);
      takeZone(zone, context);
    }
  };

/** The engine accepts the name of a function instead of a lambda, even through an alias. */
const hasLambda: Rule = ({ name, args: [first, ...others], context: { aliases } }) => {
  if (others.length === 0 || first?.kind !== 'Identifier') return;
  const handed = nameOf(first);
  if (isAllowedFunction(handed) && !isBoundByArguments(handed) && !aliases.has(handed)) return;
  throw invalidSql(`must have a lambda first in ${name}(…), such as x -> x + 1, not ${handed}`);
};

/** The engine compiles a pattern that is not a constant for each row. */
const hasPattern: Rule = (call) => {
  const text = textOf(call.args[1]);
  // A parameter's value has been checked.
  if (text !== undefined && call.context.parameterKind(writeValue(text)) === 'pattern') return;
  rejectPattern(findPatternFault(readPattern(call, ', or in a parameter of type regex')));
};

/** The same for functions that find all matches. */
const hasPatternOfAll: Rule = (call) => {
  const text = readPattern(call);
  rejectPattern(findPatternFault(text));
  if (!mayRescan(text)) return;
  throw invalidSql(
    `must not have that pattern in ${call.name}, which finds all matches: a part with *, + or ` +
      '{n,} in it is neither optional, repeated nor one of several, such as in x(.*y)? or x.*y|z',
  );
};

const hasLikePattern: Rule = (call) =>
  rejectPattern(
    findLongFault(readPattern(call, '; position(text, @name) looks for the value of a parameter')),
  );

/** The second argument, a text of the caller's own. */
function readPattern({ name, args: [, pattern], context }: Call, hint = ''): string {
  const text = textOf(pattern);
  if (text !== undefined && context.parameterKind(writeValue(text)) === undefined) return text;
  throw invalidSql(`must have the pattern of ${name} written out as a string${hint}`);
}

function rejectPattern(fault: string | undefined): void {
  if (fault !== undefined) throw invalidSql(`has a pattern that ${fault}`);
}

/**
 * With a text of each row the work is the product of both lengths, within one call that cannot be stopped: days for two
 * of 1 MB.
 */
const hasNeedleAt =
  (place: number): Rule =>
  ({ name, args }) => {
    if (textOf(args[place]) === undefined)
      throw invalidSql(`must have the text that ${name} looks for written out, or as @name`);
  };

const SEARCHED_MAX = 100;

/** The same for lists. */
const hasSearchedList: Rule = ({ name, args: [, list] }) => {
  const members =
    list?.kind === 'Function' && nameOf(list) === 'array' ? (list.children[0]?.children ?? []) : undefined;
  const isWritten =
    list?.kind === 'Literal' || members?.every((member) => member.kind === 'Literal') === true;
  if (!isWritten)
    throw invalidSql(`must have the list that ${name} looks for written out, such as ['a', 'b']`);
  const count = members?.length ?? list?.text.split(',').length ?? 0;
  if (count > SEARCHED_MAX)
    throw invalidSql(`must have at most ${SEARCHED_MAX} members in the list that ${name} looks for`);
};

/**
 * Function → place of its first argument that may be a time zone, from 0. For a zone that it has not loaded yet the
 * engine opens a file, and `file:/dev/ptmx` blocks it for good; it never frees the 5 MB of a loaded zone. So a zone
 * must be a constant from a list. test/sandbox/time-zone.timed.test.ts checks the places with the engine for every
 * allowed function.
 */
export const ZONE_PLACES = byName([
  [
    `toString toDate toDate32 toDateTime toDateTimeOrNull toDateTimeOrZero parseDateTimeBestEffort
      parseDateTimeBestEffortOrNull parseDateTimeBestEffortOrZero toYear toQuarter toMonth toISOWeek toISOYear
      toDayOfYear toDayOfMonth toHour toMinute toSecond toMillisecond toMicrosecond toUnixTimestamp
      fromUnixTimestamp64Second fromUnixTimestamp64Milli fromUnixTimestamp64Micro fromUnixTimestamp64Nano toStartOfYear
      toStartOfQuarter toStartOfMonth toMonday toStartOfDay toStartOfHour toStartOfFifteenMinutes toStartOfTenMinutes
      toStartOfFiveMinutes toStartOfMinute toStartOfSecond toStartOfMillisecond toStartOfISOYear toLastDayOfMonth
      toTimezone toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss toRelativeDayNum toRelativeHourNum toRelativeMinuteNum
      toRelativeSecondNum timeSlot date year quarter month day hour minute second`,
    1,
  ],
  [
    `toDateTime64 toDateTime64OrNull toDateTime64OrZero parseDateTime64BestEffort parseDateTime64BestEffortOrNull
      parseDateTime64BestEffortOrZero toWeek week toDayOfWeek toStartOfWeek toStartOfInterval fromUnixTimestamp
      dateTrunc dateName formatDateTime addYears addQuarters addMonths addWeeks addDays addHours addMinutes addSeconds
      addMilliseconds addMicroseconds subtractYears subtractQuarters subtractMonths subtractWeeks subtractDays
      subtractHours subtractMinutes subtractSeconds subtractMilliseconds subtractMicroseconds`,
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
function isNoZone(argument: SyntaxNode): boolean {
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

const ZONE_HINT = "a time zone is a name of the tz database, written out: 'UTC', 'Europe/Berlin'";

/** Functions and rules of their arguments. */
const RULES: ReadonlyMap<string, Rule> = new Map([
  ...[...ZONE_PLACES].map(([name, place]) => [name, hasZoneAt(place)] as const),
  ...byName<Rule>([
    ['in notIn', hasSet],
    ['CAST', hasType],
    // Second argument: a regular expression for RE2.
    ['match extract extractGroups replaceRegexpOne', hasPattern],
    ['extractAll countMatches countMatchesCaseInsensitive replaceRegexpAll', hasPatternOfAll],
    // Second argument: a pattern that the engine turns into a regular expression.
    ['like notLike ilike notILike', hasLikePattern],
    [
      `position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 instr countSubstrings
        countSubstringsCaseInsensitive replaceOne replaceAll replace`,
      hasNeedleAt(1),
    ],
    ['locate', hasNeedleAt(0)],
    [
      'hasAny hasAll multiSearchAny multiSearchAnyCaseInsensitive multiSearchFirstIndex multiSearchFirstPosition',
      hasSearchedList,
    ],
    [
      `arrayMap arrayFilter arrayExists arrayAll arrayCount arrayFirst arrayFirstOrNull arrayFirstIndex arrayLast
        arrayLastOrNull arrayLastIndex arrayMin arrayMax arraySum arrayAvg arrayProduct arrayCumSum arrayDifference
        arrayCompact arraySort arrayReverseSort arraySplit arrayFill mapFilter mapApply mapSort mapExists mapAll`,
      hasLambda,
    ],
  ]),
]);
