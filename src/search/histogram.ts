import type { ResultColumn } from '../definitions/endpoint.ts';
import {
  isLevel,
  SEARCH_FROM,
  SEARCH_UNTIL,
  type SearchScope,
  type Value,
  type WriteSearch,
  writeArms,
  writeFieldValue,
} from './arms.ts';
import { column, type Fields } from './field.ts';
import { writeLevelName } from './level.ts';
import { AGGREGATES, type Measure, writeMerged, writeState } from './measure.ts';
import { printField, type SearchField } from './tree.ts';

/** Width of a time bucket, microseconds. */
export const SEARCH_WIDTH = 'search_width';

/** Series beside NULL if the caller does not say how many; the rest is counted as one more. */
export const SERIES_MAX = 20;
export const OTHER_VALUES = '(other)';

/** What a histogram shows. */
export interface Histogram {
  /** Field of the series. */
  readonly by: SearchField;
  /** Its column, without backticks. */
  readonly name: string;
  /** `undefined`: only the number of events. */
  readonly measure: Measure | undefined;
  /** Series besides NULL; `undefined`: `SERIES_MAX`, and the text `(other)`. */
  readonly top: number | undefined;
}

/** Returns the most rows of one time bucket. */
export const seriesRowsMax = ({ top }: Histogram): number => (top ?? SERIES_MAX) + 2;

/** Columns that only some histograms have. */
const VALUE_COLUMN = 'value';
const OTHER_COLUMN = 'other';

export function listColumns({ by, name, measure, top }: Histogram, count: ResultColumn): ResultColumn[] {
  const timestamp = {
    name: 'timestamp',
    type: 'integer',
    description: 'Start of the time bucket, microseconds since the epoch, UTC.',
  } as const;
  const columns: ResultColumn[] = [
    timestamp,
    { name, type: 'string', description: `Value of ${printField(by)}.` },
    count,
  ];
  if (measure !== undefined) columns.push(describeMeasure(measure));
  if (top !== undefined)
    columns.push({
      name: OTHER_COLUMN,
      type: 'boolean',
      description: 'Whether these are the events of all values that are not among the most frequent.',
    });
  return columns;
}

// The field may have any name but these, since `#` is not allowed in names.
const SLOT = '`#slot`';
const FOUND = '`#value`';
const RAW = '`#raw`';
const EVENTS = '`#events`';
const STATE = '`#state`';
const SERIES = '`#series`';
const OTHER = '`#other`';
const PART = '`#part`';
const TOTAL = '`#total`';
const RANK = '`#rank`';

function describeMeasure({ name, field }: Measure): ResultColumn {
  const printed = printField(field);
  return AGGREGATES[name].isOfNumbers
    ? { name: VALUE_COLUMN, type: 'number', description: `${name} of ${printed}.` }
    : { name: VALUE_COLUMN, type: 'integer', description: `Number of different values of ${printed}.` };
}

/** Writes counts by time bucket and by a field, and a measure: of more values than it has series the most frequent. */
export function writeHistogram(scope: SearchScope, histogram: Histogram): WriteSearch {
  const { name, measure, top } = histogram;
  return (value) => {
    const { start, width, arms } = writeSlots(scope, histogram, value);
    const items = [
      `${start} + ${SLOT} * ${width} AS timestamp`,
      `${SERIES} AS \`${name}\``,
      `sum(${PART}) AS count`,
      ...(measure === undefined ? [] : [`${writeMerged(measure, STATE)} AS \`${VALUE_COLUMN}\``]),
      ...(top === undefined ? [] : [`CAST(${OTHER}, 'Bool') AS \`${OTHER_COLUMN}\``]),
    ];
    const isOfNumbers = measure !== undefined && AGGREGATES[measure.name].isOfNumbers;
    return `SELECT ${items.join(', ')} FROM (${writeAllSeries(histogram, arms)})
GROUP BY ${SLOT}, ${SERIES}, ${OTHER}${isOfNumbers ? ` HAVING isNotNull(${writeMerged(measure, STATE)})` : ''}
ORDER BY ${SLOT}, ${OTHER}, ${SERIES}`;
  };
}

/** Writes the counts of each source by time bucket and value. */
function writeSlots(scope: SearchScope, { by, measure }: Histogram, value: Value) {
  const start = `toUnixTimestamp64Micro(toDateTime64(${value(SEARCH_FROM)}, 6, 'UTC'))`;
  const width = `CAST(${value(SEARCH_WIDTH)}, 'Int64')`;
  const slot = `intDiv(toUnixTimestamp64Micro(${column('timestamp')}) - ${start}, ${width})`;
  const state = (fields: Fields) =>
    measure === undefined ? '' : `, ${writeState(measure, fields)} AS ${STATE}`;
  const arms = writeArms(scope, value, {
    bounds: [SEARCH_FROM, SEARCH_UNTIL],
    select: (fields) =>
      `${slot} AS ${SLOT}, ${writeFieldValue(fields.find(by))} AS ${FOUND}, count() AS ${EVENTS}${state(fields)}`,
    end: `GROUP BY ${SLOT}, ${FOUND}`,
  });
  return { start, width, arms };
}

/** Writes the series of each count. */
function writeAllSeries({ by, measure, top }: Histogram, arms: string): string {
  const state = measure === undefined ? '' : `, ${STATE}`;
  const found = isLevel(by)
    ? `SELECT ${SLOT}, ${writeLevelName(RAW)} AS ${FOUND}, ${EVENTS}${state} FROM (SELECT * EXCEPT ` +
      `${FOUND}, ${FOUND} AS ${RAW} FROM (\n${arms}\n))`
    : arms;
  const isWhole = isLevel(by) && top === undefined; // there are few levels
  if (isWhole)
    return `SELECT ${SLOT}, ${FOUND} AS ${SERIES}, 0 AS ${OTHER}, ${EVENTS} AS ${PART}${state} FROM (${found})`;
  const totals =
    `SELECT *, if(isNull(${FOUND}), 0, sum(${EVENTS}) OVER (PARTITION BY ${FOUND})) AS ${TOTAL} ` +
    `FROM (\n${found}\n)`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY ${TOTAL} DESC, ${FOUND} ASC) AS ${RANK} FROM (${totals})`;
  const isKept = `isNull(${FOUND}) OR ${RANK} <= ${top ?? SERIES_MAX}`;
  const rest = top === undefined ? `'${OTHER_VALUES}'` : 'NULL';
  const other = top === undefined ? '0' : `NOT (${isKept})`;
  return (
    `SELECT ${SLOT}, if(${isKept}, ${FOUND}, ${rest}) AS ${SERIES}, ${other} AS ${OTHER}, ` +
    `${EVENTS} AS ${PART}${state} FROM (${ranked})`
  );
}
