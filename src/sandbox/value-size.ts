import { byName, FUNCTIONS, words } from './function.ts';

/** Upper bound of a value's size. */
export interface ValueSize {
  /** 1 is as large as a stored text (about 1 KB). */
  readonly units: number;
  /** Parts of its type: 3 for a tuple of a number and a tuple of two. */
  readonly parts: number;
  /** Whether it may be the same for all rows: then the memory limit of a query does not bound the sum over a block of rows. */
  readonly isConstant: boolean;
}

/** Size of a number, a time, a flag or a hash: at most 32 bytes. */
export const SMALL = 1 / 32;
// Each member of a list takes at least 8 bytes.
const MEMBERS_PER_UNIT = 128;

export const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, SMALL);
export const largestOf = (sizes: readonly number[]) => Math.max(SMALL, ...sizes);

/** The size of a value that may be any of these. */
export function largest(sizes: readonly ValueSize[]): ValueSize {
  return {
    units: largestOf(sizes.map((size) => size.units)),
    parts: Math.max(1, ...sizes.map((size) => size.parts)),
    isConstant: sizes.some((size) => size.isConstant),
  };
}

/** Size of a constant text. */
export function sizeOfText(text: string): number {
  return SMALL + text.length / 1024;
}

/** The most members of a list of this size. */
export function membersOf(units: number): number {
  return Math.max(1, units * MEMBERS_PER_UNIT);
}

/** Size of a function's result for arguments of these sizes, in units. */
type Growth = (sizes: readonly number[]) => number;

const small: Growth = () => SMALL;
const times =
  (factor: number): Growth =>
  (sizes) =>
    factor * sumOf(sizes);
// Each character may become the replacement, which is the last argument and may quote the match.
const replaced: Growth = (sizes) => largestOf(sizes) * (1 + 1024 * (sizes.at(-1) ?? 0));
const separated: Growth = ([separator = 0, ...sizes]) => sumOf(sizes) + sizes.length * separator;
const joined: Growth = ([list = 0, separator = 0]) => 2 * list + membersOf(list) * separator;

const namesOf = (...kinds: string[]) => kinds.map((kind) => FUNCTIONS[kind]).join(' ');

/** Kinds of functions, then functions unlike their kind. The result of any other is at most the sum of its arguments. */
const GROWTH = byName<Growth>([
  [namesOf('comparison', 'logic', 'mathematical', 'conversion', 'time', 'networks', 'hashes'), small],
  [namesOf('arithmetic', 'conditional', 'rounding', 'bits', 'urls'), largestOf],
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
]);

/** Aggregates that collect their argument of all rows, and the place of the parameter that limits them. */
const COLLECTORS = byName([
  ['groupArray groupUniqArray topK topKWeighted approx_top_k', 0],
  ['groupConcat', 1],
  ['sumMap minMap maxMap', Number.POSITIVE_INFINITY], // without a limit
]);

const PICKERS = new Set(
  words(`any any_value anyLast anyHeavy min max argMin argMax first_value last_value singleValueOrNull lag lead lagInFrame leadInFrame
    nth_value`),
);

/** The size of an aggregate function's result. @param parameters such as the limit of `groupArray(100)(x)` */
export function growthOfAggregate(name: string, parameters: readonly number[]): Growth {
  const limitAt = COLLECTORS.get(name);
  if (limitAt !== undefined)
    return (sizes) => (parameters[limitAt] ?? Number.POSITIVE_INFINITY) * sumOf(sizes);
  return PICKERS.has(name) ? largestOf : () => SMALL * Math.max(1, parameters.length);
}

/** The size of a function's result. @param name in lower case */
export function growthOf(name: string): Growth {
  return GROWTH.get(name) ?? sumOf;
}

// The result's type has the types of all arguments as parts.
const COMPOSING = new Set(words('tuple map arrayZip mapFromArrays untuple'));
// No type of a CAST has more.
const CAST_PARTS = 64;

/** Parts of the type of a function's result. @param name in lower case */
export function partsOf(name: string, parts: readonly number[]): number {
  const most = Math.max(1, ...parts);
  if (GROWTH.get(name) === small) return 1;
  if (COMPOSING.has(name)) return parts.reduce((sum, part) => sum + part, 0);
  if (name === 'array') return most + 1;
  return name === 'cast' ? Math.max(most, CAST_PARTS) : most;
}

/** Functions that cost more than one pass over their arguments. */
const WEIGHT = byName([
  ['match extract extractGroups replaceRegexpOne', 8],
  ['extractAll countMatches countMatchesCaseInsensitive replaceRegexpAll', 16],
  ['like notLike ilike notILike', 8],
  ['hasSubsequence hasAny hasAll', 4],
  [namesOf('json'), 4],
  ['splitByChar splitByString splitByWhitespace splitByNonAlpha alphaTokens extractKeyValuePairs', 4],
  ['arrayIntersect arrayDistinct arrayUniq arrayEnumerateUniq mapAdd mapSubtract mapConcat', 4],
  ['arraySort arrayReverseSort mapSort SHA1 SHA256 MD5', 2],
]);

/** Cost of a call in passes over its arguments. @param name in lower case */
export function weightOf(name: string): number {
  return WEIGHT.get(name) ?? 1;
}
