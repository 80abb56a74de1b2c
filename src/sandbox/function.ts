/**
 * The functions that a caller's SELECT may call, by kind. The result of each depends only on its arguments, and its
 * size is in proportion to theirs.
 *
 * Excluded are functions of files, network, dictionaries, settings, the server, other queries or time (canonical.ts
 * binds the clocks); functions that take the name of a function, a table or a type as a text; functions with large
 * results of small arguments (`range`, `repeat`, `arrayWithConstant`, `leftPad`), since the engine checks its limits
 * between blocks of rows and not inside of a function; states of aggregation, which the engine reads back unchecked.
 */
export const FUNCTIONS: Readonly<Record<string, string>> = {
  arithmetic: `plus minus multiply divide intDiv intDivOrZero modulo moduloOrZero positiveModulo negate abs gcd lcm
    greatest least max2 min2 byteSwap mod`,
  comparison:
    'equals notEquals less greater lessOrEquals greaterOrEquals isDistinctFrom isNotDistinctFrom in notIn exists',
  logic: 'and or not xor',
  conditional: `if multiIf caseWithExpression caseWithExpr caseWithoutExpr isNull isNotNull isZeroOrNull ifNull nullIf
    coalesce assumeNotNull toNullable isNaN isFinite isInfinite ifNotFinite transform`,
  mathematical: `exp exp2 exp10 log log2 log10 log1p sqrt cbrt pow sin cos tan asin acos atan atan2 hypot sinh cosh tanh
    degrees radians pi e ln power sign sigmoid erf`,
  rounding:
    'round roundBankers floor ceil ceiling trunc truncate roundToExp2 roundDown roundDuration roundAge widthBucket',
  bits: `bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight bitRotateLeft bitRotateRight bitTest bitTestAll
    bitTestAny bitCount bitHammingDistance`,
  conversion: `CAST toBool toInt8 toInt16 toInt32 toInt64 toInt128 toInt256 toUInt8 toUInt16 toUInt32 toUInt64 toUInt128
    toUInt256 toFloat32 toFloat64 toInt8OrNull toInt16OrNull toInt32OrNull toInt64OrNull toUInt8OrNull toUInt16OrNull
    toUInt32OrNull toUInt64OrNull toFloat32OrNull toFloat64OrNull toInt8OrZero toInt16OrZero toInt32OrZero toInt64OrZero
    toUInt8OrZero toUInt16OrZero toUInt32OrZero toUInt64OrZero toFloat32OrZero toFloat64OrZero toInt64OrDefault
    toUInt64OrDefault toFloat64OrDefault toDecimal32 toDecimal64 toDecimal128 toDecimal64OrNull toDecimal64OrZero
    toString toTypeName toLowCardinality toUUID toUUIDOrNull toUUIDOrZero toIPv4 toIPv4OrNull toIPv6 toIPv6OrNull
    parseReadableSizeOrNull`,
  strings: `length lengthUTF8 char_length empty notEmpty lower upper lowerUTF8 upperUTF8 reverse reverseUTF8 concat
    concatWithSeparator substring substringUTF8 substringIndex left right leftUTF8 rightUTF8 trimLeft trimRight trimBoth
    substr trim ltrim rtrim instr replace lcase ucase character_length octet_length concat_ws startsWith endsWith
    startsWithUTF8 endsWithUTF8 position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 locate
    countSubstrings countSubstringsCaseInsensitive hasToken hasTokenCaseInsensitive multiSearchAny
    multiSearchAnyCaseInsensitive multiSearchFirstIndex multiSearchFirstPosition hasSubsequence replaceOne replaceAll
    translate initcap ascii char isValidUTF8 toValidUTF8 appendTrailingCharIfAbsent splitByChar splitByString
    splitByWhitespace splitByNonAlpha alphaTokens extractKeyValuePairs base64Encode base64Decode tryBase64Decode
    encodeURLComponent decodeURLComponent hex unhex formatReadableSize formatReadableDecimalSize formatReadableQuantity
    formatReadableTimeDelta`,
  patterns: `like notLike ilike notILike match extract extractAll extractGroups countMatches countMatchesCaseInsensitive
    replaceRegexpOne replaceRegexpAll`,
  urls: `protocol domain domainWithoutWWW topLevelDomain firstSignificantSubdomain port path pathFull queryString
    fragment extractURLParameter extractURLParameters extractURLParameterNames cutQueryString cutFragment
    cutQueryStringAndFragment cutURLParameter cutWWW cutToFirstSignificantSubdomain URLPathHierarchy`,
  json: `JSONHas JSONLength JSONType JSONKey JSONExtractString JSONExtractInt JSONExtractUInt JSONExtractFloat
    JSONExtractBool JSONExtractRaw JSONExtractArrayRaw JSONExtractKeysAndValuesRaw JSONExtractKeys isValidJSON
    toJSONString simpleJSONHas simpleJSONExtractString simpleJSONExtractInt simpleJSONExtractUInt simpleJSONExtractFloat
    simpleJSONExtractBool simpleJSONExtractRaw`,
  time: `toDate toDate32 toDateOrNull toDateOrZero toDateTime toDateTimeOrNull toDateTimeOrZero toDateTime64
    toDateTime64OrNull toDateTime64OrZero parseDateTimeBestEffort parseDateTimeBestEffortOrNull
    parseDateTimeBestEffortOrZero parseDateTime64BestEffort parseDateTime64BestEffortOrNull
    parseDateTime64BestEffortOrZero toYear toQuarter toMonth toWeek toISOWeek toISOYear toDayOfYear toDayOfMonth
    toDayOfWeek toHour toMinute toSecond toMillisecond toMicrosecond toUnixTimestamp toUnixTimestamp64Milli
    toUnixTimestamp64Micro toUnixTimestamp64Nano fromUnixTimestamp fromUnixTimestamp64Second fromUnixTimestamp64Milli
    fromUnixTimestamp64Micro fromUnixTimestamp64Nano toStartOfYear toStartOfQuarter toStartOfMonth toStartOfWeek
    toMonday toStartOfDay toStartOfHour toStartOfFifteenMinutes toStartOfTenMinutes toStartOfFiveMinutes toStartOfMinute
    toStartOfSecond toStartOfMillisecond toStartOfInterval toStartOfISOYear toLastDayOfMonth toTimezone toYYYYMM
    toYYYYMMDD toYYYYMMDDhhmmss toRelativeDayNum toRelativeHourNum toRelativeMinuteNum toRelativeSecondNum timeSlot
    dateDiff date_diff age dateTrunc dateName formatDateTime monthName addYears addQuarters addMonths addWeeks addDays
    addHours addMinutes addSeconds addMilliseconds addMicroseconds addInterval subtractYears subtractQuarters
    subtractMonths subtractWeeks subtractDays subtractHours subtractMinutes subtractSeconds subtractMilliseconds
    subtractMicroseconds subtractInterval addDate subDate toIntervalYear toIntervalQuarter toIntervalMonth
    toIntervalWeek toIntervalDay toIntervalHour toIntervalMinute toIntervalSecond toIntervalMillisecond
    toIntervalMicrosecond timestamp date year quarter month week day hour minute second timestampDiff makeDate
    makeDateTime`,
  arrays: `array arrayElement arrayElementOrNull has hasAny hasAll indexOf arrayConcat arrayCount arrayExists arrayAll
    arrayFilter arrayMap arrayFirst arrayFirstOrNull arrayFirstIndex arrayLast arrayLastOrNull arrayLastIndex arrayMin
    arrayMax arraySum arrayAvg arrayProduct arrayCumSum arrayDifference arrayDistinct arrayUniq arrayEnumerate
    arrayEnumerateUniq arrayFlatten arrayCompact arrayIntersect arrayReverse arraySlice arraySort arrayReverseSort
    arrayStringConcat arrayZip arrayPopBack arrayPopFront arrayPushBack arrayPushFront arrayJoin countEqual arraySplit
    arrayFill`,
  maps: `map mapKeys mapValues mapContainsKey mapContains mapFromArrays mapFilter mapApply mapAdd mapSubtract mapSort
    mapExists mapAll mapConcat`,
  tuples: 'tuple tupleElement untuple tuplePlus tupleMinus',
  networks: `IPv4NumToString IPv4StringToNum IPv4StringToNumOrNull IPv6NumToString IPv6StringToNumOrNull IPv4ToIPv6
    isIPv4String isIPv6String isIPAddressInRange IPv4CIDRToRange IPv6CIDRToRange`,
  hashes:
    'cityHash64 sipHash64 xxHash32 xxHash64 xxh3 farmHash64 murmurHash3_32 murmurHash3_64 MD5 SHA1 SHA256 CRC32',
  others: 'lambda grouping ignore materialize identity',
};

/** Aggregate functions; each also with the suffixes below. */
export const AGGREGATES: Readonly<Record<string, string>> = {
  aggregates: `count sum sumWithOverflow sumKahan min max avg avgWeighted any any_value anyLast anyHeavy argMin argMax
    uniq uniqExact uniqCombined uniqCombined64 uniqHLL12 median quantile quantiles quantileExact quantilesExact
    quantileTDigest quantilesTDigest quantileTiming quantilesTiming quantileDeterministic quantileExactWeighted
    quantileTDigestWeighted quantileInterpolatedWeighted quantileBFloat16 medianExact medianTDigest stddev stddevPop
    stddevSamp varPop varSamp covarPop covarSamp corr skewPop skewSamp kurtPop kurtSamp entropy groupArray
    groupUniqArray groupConcat groupBitAnd groupBitOr groupBitXor sumMap minMap maxMap topK topKWeighted approx_top_k
    first_value last_value deltaSum boundingRatio singleValueOrNull simpleLinearRegression rankCorr`,
  windows: `row_number rank dense_rank percent_rank cume_dist ntile lag lead lagInFrame leadInFrame nth_value
    nonNegativeDerivative exponentialMovingAverage`,
};

/** Suffixes of aggregate functions, which may be combined; without those of states and ranges. */
export const COMBINATORS = ['If', 'Array', 'Distinct', 'OrNull', 'OrDefault', 'ForEach'];

/** The names of a list, in lower case. */
export const words = (list: string) => list.toLowerCase().split(/\s+/);

/** What lists of names stand for, by name in lower case. A name in several lists has the value of the last. */
export function byName<T>(rows: readonly (readonly [names: string, value: T])[]): ReadonlyMap<string, T> {
  return new Map(rows.flatMap(([names, value]) => words(names).map((name) => [name, value] as const)));
}

const plain = new Set(Object.values(FUNCTIONS).flatMap(words));
const aggregates = new Set(Object.values(AGGREGATES).flatMap(words));
const suffixes = COMBINATORS.map((suffix) => suffix.toLowerCase());

/** Whether a caller's SELECT may call a function, in any letter case: the engine rejects a wrong one itself. */
export function isAllowedFunction(name: string): boolean {
  const small = name.toLowerCase();
  return plain.has(small) || findAggregate(small) !== undefined;
}

/**
 * The aggregate function of an allowed name, without suffixes; `undefined` for other functions.
 *
 * @param name in lower case
 */
function findAggregate(name: string): string | undefined {
  if (aggregates.has(name)) return name;
  const suffix = suffixes.find((one) => name.endsWith(one)); // none ends with another
  return suffix && findAggregate(name.slice(0, -suffix.length));
}
