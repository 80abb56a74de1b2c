import type { ResultColumn } from '../../definitions/endpoint.ts';
import type { Source } from '../../definitions/source.ts';
import { guardPattern } from '../../sql/search-guard.ts';
import { writeValue } from '../../sql/sql.ts';
import { writeDouble, writeForm, writeLevelName } from '../comparison.ts';
import { type Fields, listFields, METADATA, READ_JSON, ROW_FIELDS } from '../field.ts';
import { parseField, type SearchField } from '../parse.ts';
import {
  findSample,
  type PartRequest,
  type PlannedPart,
  printShare,
  readLimit,
  type SearchScope,
  writeArms,
  writeFieldText,
  writeSample,
} from '../part.ts';

// Two million values of events with a hundred fields take the engine about a second of a core.
const ROWS_MAX = 20_000;
const FIELDS_DEFAULT = 200;
const TOP_MAX = 5;

const FIELD_COLUMNS: readonly ResultColumn[] = [
  { name: 'field', type: 'string', description: 'Name of the field, as a search names it.' },
  { name: 'coverage', type: 'number', description: 'Share of the events that have a value, 0 to 1.' },
  { name: 'distinct', type: 'integer', description: 'Number of different values.' },
  { name: 'top', type: 'json', description: 'The five most frequent: a list of {"value", "count"}.' },
  ...(['min', 'max', 'p50', 'p95'] as const).map((name) => ({
    name,
    type: 'number' as const,
    description: `${name} of the numbers; null unless half of the values are numbers.`,
  })),
];

/** Describes each field of the events: how many have it, and which values. */
export function planFields({ scope, values }: PartRequest): PlannedPart {
  const size = readLimit(values, FIELDS_DEFAULT);
  return {
    columns: FIELD_COLUMNS,
    maxRows: size,
    prepare: async (ask) => {
      const sample = await findSample(ask, scope, ROWS_MAX);
      return { writeSelect: () => writeFields(scope, sample, size), sampledShare: printShare(1 / sample) };
    },
  };
}

/** A text that is a number as JSON writes it, as a double; else NULL. */
const NUMBER = writeDouble(writeForm('value'));
// With the exact level, the weighted function takes the value before the one that `quantileExact` takes, if level ×
// values is an integer. The difference is less than that of two values in `ROWS_MAX`.
const HALF = 0.500001;
const MOST = 0.950001;

function writeFields(scope: SearchScope, sample: number, size: number): string {
  const arms = writeArms(scope, {
    sample: writeSample(sample),
    select: (fields, source) => selectPairs(source, fields),
  });
  const counted =
    `SELECT path, value, toInt64(count()) AS n, ${NUMBER} AS x FROM (${writePairs(arms)}) GROUP ` +
    'BY path, value';
  const described = `SELECT path, sum(n) AS held, toInt64(count()) AS values,
      groupArraySorted(${TOP_MAX})((-n, ifNull(value, ''))) AS most,
  sumIf(n, x IS NOT NULL) AS numbers, min(x) AS low, max(x) AS high,
  quantilesExactWeighted(${HALF}, ${MOST})(x, toUInt64(n)) AS ranks
FROM (${counted}) GROUP BY path`;
  const total = `SELECT *, sumIf(held, path = ${writePath(['source'])}) OVER () AS events FROM (${described})`;
  const number = (sql: string) => `if(numbers * 2 >= held, ${sql}, NULL)`;
  // Values that differ and repeat tell most.
  return `SELECT ${NAME_OF_PATH} AS field, round(least(held / events, 1), 6) AS coverage, values AS distinct,
  toJSONString(arrayMap(t -> CAST((t.2, -t.1), 'Tuple(value String, count Int64)'), most)) AS top,
  ${number('low')} AS min, ${number('high')} AS max, ${number('ranks[1]')} AS p50, ${number('ranks[2]')} AS p95
FROM (${total}) ORDER BY values > 1 AND values * 2 <= held DESC, held DESC, field LIMIT ${size}`;
}

/** Values of an event's metadata that are looked at: a bound of the engine's time and memory. */
const LEAVES_MAX = 128;
// Names of a path. Each level of objects is read once more.
const DEPTH_MAX = 4;
const PATH_BYTES_MAX = 256;
/** A longer value is cut, with `…` at its end. */
const VALUE_BYTES_MAX = 1_024;
const CUT_CHARS = 256;

/** Fields that differ for nearly all events. */
const SKIPPED: ReadonlySet<string> = new Set(['id', 'timestamp', 'event_message', 'metadata']);

/** Before each name of a path: no text has this byte. So names are quoted once for each path, not for each value. */
const BEFORE_NAME = String.raw`'\xff'`;

/** Writes a path, as `writePairs` returns those of fields. */
export function writePath(field: SearchField): string {
  return `concat(${field.flatMap((name) => [BEFORE_NAME, writeValue(name)]).join(', ')})`;
}

// As a search does (search/parse.ts). JavaScript's `\s` has more characters than RE2's.
const QUOTED =
  `if(match(n, ${guardPattern(String.raw`^[^\s\x0b\pZ\x{feff}()":.*-][^\s\x0b\pZ\x{feff}()":.*]*$`)}), ` +
  `n, concat('"', replaceRegexpAll(n, ${writeValue(String.raw`["\\]`)}, ` +
  `${writeValue(String.raw`\\\0`)}), '"'))`;

const NAMES = `splitByChar(${BEFORE_NAME}, substring(path, 2))`;
/** Writes the name of a field, as a search names it, from its path. */
export const NAME_OF_PATH = `arrayStringConcat(arrayMap(n -> ${QUOTED}, ${NAMES}), '.')`;

/** Returns the members of the objects in it. */
const OPEN_OBJECTS =
  `a -> arrayFlatten(arrayMap(p -> arrayMap(c -> (concat(p.1, ${BEFORE_NAME}, c.1), c.2), ` +
  `JSONExtractKeysAndValuesRaw(p.2)), arrayFilter(p -> startsWith(p.2, '{'), a)))`;
const CUT_VALUE = `v -> if(length(v) > ${VALUE_BYTES_MAX}, concat(substringUTF8(v, 1, ${CUT_CHARS}), '…'), v)`;

const ROW_NAMES = `[${Object.keys(ROW_FIELDS).map(writeValue).join(', ')}]`;
/** The members of the metadata; below `metadata` if the name would be one of a row. */
const MEMBERS =
  `arrayMap(c -> (concat(if(c.1 = 'metadata' OR (has(${ROW_NAMES}, c.1) AND NOT ` +
  `startsWith(c.2, '{')), ${writePath(['metadata'])}, ''), ${BEFORE_NAME}, c.1), c.2), ` +
  'JSONExtractKeysAndValuesRaw(json))';

/** Writes the columns that `writePairs` reads of a source: its declared fields, a level as its rank, and the JSON. */
export function selectPairs(source: Source, fields: Fields): string {
  const names = listFields(source).map(({ name }) => name);
  const declared = names.filter((name) => !SKIPPED.has(name)).map((name) => parseField(name, 'field'));
  const typed = declared.map((field) => writeFieldText(fields.find(field)));
  return `[${declared.map(writePath).join(', ')}] AS paths, [${typed.join(', ')}] AS typed, ${METADATA} AS json`;
}

/**
 * Writes a row for each field of an event with a value, as `path` (`NAME_OF_PATH`) and text: the declared ones, then those
 * of the metadata, of its objects after its own. Outside of the SELECTs of sources, since it takes time to analyse.
 *
 * @param arms with the columns of `selectPairs`, and those of `more`, which has a comma before each
 */
export function writePairs(arms: string, more = ''): string {
  const levels = Array.from({ length: DEPTH_MAX }, (_, depth) => `M${depth}`);
  const members = levels.map((name, depth) => `${depth === 0 ? MEMBERS : `OPEN(M${depth - 1})`} AS ${name}`);
  const isLeaf = `NOT has(paths, p.1) AND length(p.1) <= ${PATH_BYTES_MAX} AND NOT startsWith(p.2, '{')`;
  const found = `arraySlice(arrayFilter(p -> ${isLeaf}, arrayConcat(${levels.join(', ')})), 1, ${LEAVES_MAX})`;
  const texts = `arrayMap(p -> (p.1, READ(p.2)), ${found})`;
  const pairs = `arrayFilter(p -> isNotNull(p.2), arrayConcat(arrayZip(paths, typed), ${texts}))`;
  const level = writeLevelName('toUInt8OrZero(pair.2)');
  return `WITH ${OPEN_OBJECTS} AS OPEN, ${CUT_VALUE} AS CUT, ${READ_JSON} AS READ SELECT pair.1 AS path,
    if(path = ${writePath(['level'])}, ${level}, CUT(pair.2)) AS value${more}
FROM (WITH ${members.join(', ')} SELECT arrayJoin(${pairs}) AS pair${more} FROM (\n${arms}\n))`;
}
