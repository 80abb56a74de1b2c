import { FUNCTIONS } from './function.ts';

/** How large a value may be. */
export interface ValueSize {
  /** 1 is as large as a stored text (about 1 KB). */
  readonly units: number;
  /** Of its type: 3 for a tuple of a number and of a tuple of two. */
  readonly parts: number;
  /** It may be the same for all rows, so that the memory of a query does not bound the sum over a block of rows. */
  readonly isConstant: boolean;
}

/** Of the largest number, of a time, a flag or a hash: 32 bytes. */
export const SMALL = 1 / 32;
// A list has 8 bytes for each of its members, however short.
const MEMBERS_PER_UNIT = 128;

export const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, SMALL);
export const largestOf = (sizes: readonly number[]) => Math.max(SMALL, ...sizes);

/** The size of what may be any of these. */
export function largest(sizes: readonly ValueSize[]): ValueSize {
  return {
    units: largestOf(sizes.map((size) => size.units)),
    parts: Math.max(1, ...sizes.map((size) => size.parts)),
    isConstant: sizes.some((size) => size.isConstant),
  };
}

/** A constant text of the caller's own; `@name` stands for up to 1,000 bytes. */
export function sizeOfText(text: string): number {
  return SMALL + text.length / 1024;
}

/** The members that a list of this size may have. */
export function membersOf(units: number): number {
  return Math.max(1, units * MEMBERS_PER_UNIT);
}

/** How large the result of a function is, of arguments of these sizes in units. */
type Growth = (sizes: readonly number[]) => number;

const small: Growth = () => SMALL;
const times =
  (factor: number): Growth =>
  (sizes) =>
    factor * sumOf(sizes);
// Each character may become the replacement, the last argument, and what it quotes of the match.
const replaced: Growth = (sizes) => largestOf(sizes) * (1 + 1024 * (sizes.at(-1) ?? 0));
const separated: Growth = ([separator = 0, ...sizes]) => sumOf(sizes) + sizes.length * separator;
const joined: Growth = ([list = 0, separator = 0]) => 2 * list + membersOf(list) * separator;

/** Kinds of FUNCTIONS whose results are small, and those whose result is no larger than their largest argument. */
const KINDS: Readonly<Record<string, Growth>> = {
  arithmetic: largestOf,
  comparison: small,
  logic: small,
  conditional: largestOf,
  mathematical: small,
  rounding: largestOf,
  bits: largestOf,
  conversion: small,
  time: small,
  networks: small,
  hashes: small,
  urls: largestOf,
};

/** Functions that are unlike their kind; what neither lists gives at most all of its arguments. */
const UNLIKE: readonly (readonly [names: string, growth: Growth])[] = [
  ['CAST toString toTypeName', times(4)], // numbers to digits, and quotes in the texts of a list
  ['formatDateTime fromUnixTimestamp', times(12)], // two characters of its format become the name of a month
  [
    'toLowCardinality assumeNotNull materialize identity any_value arrayElement arrayElementOrNull',
    largestOf,
  ],
  [
    `length lengthUTF8 char_length character_length octet_length empty notEmpty startsWith endsWith startsWithUTF8 endsWithUTF8
    position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 locate instr countSubstrings
    countSubstringsCaseInsensitive hasToken hasTokenCaseInsensitive multiSearchAny multiSearchAnyCaseInsensitive
    multiSearchFirstIndex multiSearchFirstPosition hasSubsequence ascii isValidUTF8 formatReadableSize formatReadableDecimalSize
    formatReadableQuantity formatReadableTimeDelta like notLike ilike notILike match countMatches countMatchesCaseInsensitive port
    JSONHas JSONLength JSONType JSONExtractInt JSONExtractUInt JSONExtractFloat JSONExtractBool isValidJSON simpleJSONHas
    simpleJSONExtractInt simpleJSONExtractUInt simpleJSONExtractFloat simpleJSONExtractBool has hasAny hasAll indexOf arrayCount
    arrayExists arrayAll arrayFirstIndex arrayLastIndex arrayUniq countEqual mapContainsKey mapContains mapExists mapAll grouping
    ignore`,
    small,
  ],
  [
    `lower upper reverse reverseUTF8 substring substringUTF8 substringIndex left right leftUTF8 rightUTF8 trimLeft trimRight trimBoth
    substr trim ltrim rtrim lcase ucase translate base64Decode tryBase64Decode decodeURLComponent unhex extract JSONKey
    JSONExtractString JSONExtractRaw simpleJSONExtractString simpleJSONExtractRaw arraySlice arrayFilter arrayDistinct arrayReverse
    arraySort arrayReverseSort arrayFirst arrayFirstOrNull arrayLast arrayLastOrNull arrayMin arrayMax arraySum arrayAvg arrayCompact
    arrayPopBack arrayPopFront arrayJoin mapFilter mapKeys mapValues mapSort tupleElement`,
    largestOf,
  ],
  ['upperUTF8 lowerUTF8 initcap hex base64Encode arraySplit arrayFill', times(2)],
  ['encodeURLComponent toValidUTF8', times(3)],
  ['toJSONString', times(8)],
  [
    `splitByChar splitByString splitByWhitespace splitByNonAlpha alphaTokens extractAll extractGroups extractKeyValuePairs
    extractURLParameters extractURLParameterNames JSONExtractArrayRaw JSONExtractKeysAndValuesRaw JSONExtractKeys`,
    times(10),
  ],
  ['URLPathHierarchy', (sizes) => 512 * sumOf(sizes) ** 2], // every beginning of the path
  ['concatWithSeparator concat_ws', separated],
  ['arrayStringConcat', joined],
  ['replaceAll replaceOne replace replaceRegexpOne replaceRegexpAll', replaced],
];

const words = (names: string) => names.toLowerCase().split(/\s+/);

const GROWTH = new Map<string, Growth>([
  ...Object.entries(KINDS).flatMap(([kind, growth]) =>
    words(FUNCTIONS[kind] ?? '').map((name) => [name, growth] as const),
  ),
  ...UNLIKE.flatMap(([names, growth]) => words(names).map((name) => [name, growth] as const)),
]);

/** Those that keep what all rows hold of their argument, unless they have a limit, and the place of that parameter. */
const COLLECTORS: ReadonlyMap<string, number> = new Map([
  ['grouparray', 0],
  ['groupuniqarray', 0],
  ['groupconcat', 1],
  ['topk', 0],
  ['topkweighted', 0],
  ['approx_top_k', 0],
  ['summap', Number.POSITIVE_INFINITY],
  ['minmap', Number.POSITIVE_INFINITY],
  ['maxmap', Number.POSITIVE_INFINITY],
]);

const PICKERS = new Set(
  words(`any any_value anyLast anyHeavy min max argMin argMax first_value last_value singleValueOrNull lag lead lagInFrame leadInFrame
    nth_value`),
);

/** How large the result of an aggregate function may be, with parameters such as the limit of `groupArray(100)(x)`. */
export function growthOfAggregate(name: string, parameters: readonly number[]): Growth {
  const limitAt = COLLECTORS.get(name);
  const limit = limitAt === undefined ? 1 : (parameters[limitAt] ?? Number.POSITIVE_INFINITY);
  if (limitAt !== undefined) return (sizes) => limit * sumOf(sizes);
  if (PICKERS.has(name)) return largestOf;
  return () => SMALL * Math.max(1, parameters.length);
}

/** How large the result of a function may be; the name in small letters. */
export function growthOf(name: string): Growth {
  return GROWTH.get(name) ?? sumOf;
}

// The types of all arguments are parts of the type of the result.
const COMPOSING = new Set(words('tuple map arrayZip mapFromArrays untuple'));
// The longest type of a CAST has no more.
const CAST_PARTS = 64;

/** Of the type of a function's result; the name in small letters. */
export function partsOf(name: string, parts: readonly number[]): number {
  const most = Math.max(1, ...parts);
  if (GROWTH.get(name) === small) return 1;
  if (COMPOSING.has(name)) return parts.reduce((sum, part) => sum + part, 0);
  if (name === 'array') return most + 1;
  return name === 'cast' ? Math.max(most, CAST_PARTS) : most;
}

/** How much slower than one pass over its arguments a call is. */
const WEIGHTS: readonly (readonly [names: string, weight: number])[] = [
  ['match extract extractGroups replaceRegexpOne', 8],
  ['extractAll countMatches countMatchesCaseInsensitive replaceRegexpAll', 16],
  ['like notLike ilike notILike', 8],
  ['hasSubsequence hasAny hasAll', 4],
  [FUNCTIONS['json'] ?? '', 4],
  ['splitByChar splitByString splitByWhitespace splitByNonAlpha alphaTokens extractKeyValuePairs', 4],
  ['arrayIntersect arrayDistinct arrayUniq arrayEnumerateUniq mapAdd mapSubtract mapConcat', 4],
  ['arraySort arrayReverseSort mapSort SHA1 SHA256 MD5', 2],
];

const WEIGHT = new Map(
  WEIGHTS.flatMap(([names, weight]) => words(names).map((name) => [name, weight] as const)),
);

/** Passes over its arguments that a call is worth; the name in small letters. */
export function weightOf(name: string): number {
  return WEIGHT.get(name) ?? 1;
}
