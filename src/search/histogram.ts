import type { ResultColumn } from '../definitions/endpoint.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import { type ParameterValues, rejectParameter } from '../query/parameters.ts';
import { writeValue } from '../sql/sql.ts';
import { writeLevelName } from './comparison.ts';
import { toText } from './condition.ts';
import { column, type Fields } from './field.ts';
import { parseField, printField, type SearchField } from './parse.ts';
import {
  COUNT,
  isLevel,
  type PartRequest,
  type PlannedPart,
  readField,
  type SearchScope,
  writeArms,
  writeFieldValue,
} from './part.ts';

const MEASURE_PARAMETER = 'measure';

/** Parses what a histogram shows. @throws TailraceError `invalid_parameter` */
export function readHistogram(values: ParameterValues): Histogram {
  const measure = parseMeasure(values[MEASURE_PARAMETER] ?? 'count');
  const top = values['top'] === '' || values['top'] === undefined ? undefined : Number(values['top']);
  return { by: readField(values, 'by'), name: values['by'] ?? '', measure, top };
}

/** Returns the width of a time bucket, microseconds. */
export function widthOf({ scope: { range }, values }: PartRequest): Micros {
  return Math.ceil((range.until - range.from) / Number(values['buckets']));
}

export function planHistogram(request: PartRequest): PlannedPart {
  const { scope, values } = request;
  const histogram = readHistogram(values);
  const { measure, top = SERIES_MAX } = histogram;
  return {
    columns: nameColumns(histogram),
    maxRows: Number(values['buckets']) * (top + 2), // those without a value, and the rest
    writeSelect: () => writeHistogram(scope, histogram, widthOf(request)),
    fields: [histogram.by, ...(measure === undefined ? [] : [measure.field])],
    ...(measure !== undefined && isOfNumbers(measure) && { doubt: describeNumbers(measure) }),
  };
}

/** Returns the columns of the rows. @throws TailraceError if the series cannot be the name of one */
export function nameColumns(histogram: Histogram) {
  const { name } = histogram;
  const columns = listColumns(histogram);
  if (columns.filter((column) => column.name === name).length > 1)
    throw rejectParameter('by', `must not be the column "${name}" of the answer; write metadata.${name}`);
  if (!/^[\w.@$-]{1,200}$/.test(name))
    throw rejectParameter('by', 'must have only letters, digits, _, -, @, $ and dots, at most 200');
  return columns;
}

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

export function listColumns({ by, name, measure, top }: Histogram): ResultColumn[] {
  const start = 'Start of the time bucket, microseconds since the epoch, UTC.';
  const other = 'Whether these are the events of all values that are not among the most frequent.';
  return [
    { name: 'timestamp', type: 'integer', description: start },
    { name, type: 'string', description: `Value of ${printField(by)}.` },
    COUNT,
    ...(measure === undefined ? [] : [describeMeasure(measure)]),
    ...(top === undefined ? [] : [{ name: 'other', type: 'boolean', description: other } as const]),
  ];
}

function describeMeasure(measure: Measure): ResultColumn {
  const printed = printField(measure.field);
  return isOfNumbers(measure)
    ? { name: 'value', type: 'number', description: `${measure.name} of ${printed}.` }
    : { name: 'value', type: 'integer', description: `Number of different values of ${printed}.` };
}

/** Writes counts by time bucket and the most frequent values of a field, and a measure. No field has a name with `#`. */
function writeHistogram(scope: SearchScope, histogram: Histogram, widthMicros: Micros): string {
  const { by, name, measure, top } = histogram;
  const merged = measure && writeMeasure(measure, '"#state"', 'Merge');
  const first = writeValue(formatInstant(scope.range.from));
  const start = `toUnixTimestamp64Micro(toDateTime64(${first}, 6, 'UTC'))`;
  const width = `CAST('${widthMicros}', 'Int64')`;
  const arms = writeArms(scope, {
    select: (fields) => {
      const shared = `${column('timestamp')} AS "#time", ${writeFieldValue(fields.find(by))} AS "#raw"`;
      if (measure === undefined) return shared;
      // All sources need the same type, though a field may have different ones in them.
      const type = isOfNumbers(measure) ? 'Float64' : 'String';
      return `${shared}, CAST(${writeMeasured(measure, fields)}, 'Nullable(${type})') AS "#measured"`;
    },
  });
  // Counted once for all sources: to count each source first takes the engine longer to plan than it saves.
  const slots = `SELECT ${[
    `intDiv(toUnixTimestamp64Micro("#time") - ${start}, ${width}) AS "#slot"`,
    `${isLevel(by) ? writeLevelName('"#raw"') : '"#raw"'} AS "#value"`,
    'count() AS "#events"',
    ...(measure === undefined ? [] : [`${writeMeasure(measure, '"#measured"', 'State')} AS "#state"`]),
  ].join(', ')} FROM (\n${arms}\n) GROUP BY "#slot", "#raw"`;
  const items = [
    `${start} + "#slot" * ${width} AS timestamp`,
    `"#series" AS "${name}"`,
    'sum("#events") AS count',
    ...(merged === undefined ? [] : [`${merged} AS value`]),
    ...(top === undefined ? [] : [`CAST("#other", 'Bool') AS other`]),
  ];
  return `SELECT ${items.join(', ')} FROM (${writeSeries(histogram, slots)})
GROUP BY "#slot", "#series", "#other"${measure && isOfNumbers(measure) ? ` HAVING isNotNull(${merged})` : ''}
ORDER BY "#slot", "#other", "#series"`;
}

/** Writes the series of each count: its value, or what stands for those that are not among the most frequent. */
function writeSeries({ by, top }: Histogram, slots: string): string {
  if (isLevel(by) && top === undefined)
    // there are few levels
    return `SELECT *, "#value" AS "#series", 0 AS "#other" FROM (${slots})`;
  const totals = `SELECT *, if(isNull("#value"), 0, sum("#events") OVER (PARTITION BY "#value")) AS "#total"
FROM (${slots})`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY "#total" DESC, "#value" ASC) AS "#rank" FROM (${totals})`;
  const isKept = `isNull("#value") OR "#rank" <= ${top ?? SERIES_MAX}`;
  const [rest, other] = top === undefined ? [`'${OTHER_VALUES}'`, '0'] : ['NULL', `NOT (${isKept})`];
  return `SELECT *, if(${isKept}, "#value", ${rest}) AS "#series", ${other} AS "#other" FROM (${ranked})`;
}

/** What a histogram computes of a field, besides the number of events. */
export interface Measure {
  readonly name: MeasureName;
  readonly field: SearchField;
}

/** The engine's functions, which are exact, so that the same events give the same answer, and their parameters. */
const AGGREGATES = {
  avg: ['avg', ''],
  sum: ['sum', ''],
  p50: ['quantileExact', '(0.5)'],
  p95: ['quantileExact', '(0.95)'],
  p99: ['quantileExact', '(0.99)'],
  distinct: ['uniqExact', ''],
} as const;

type MeasureName = keyof typeof AGGREGATES;

/** Whether a measure is a number of numbers, and so NULL without one. */
export const isOfNumbers = ({ name }: Measure) => name !== 'distinct';

/** Writes a measure, or its state, or what merges its states. */
export function writeMeasure({ name }: Measure, of: string, kind: '' | 'State' | 'Merge' = ''): string {
  const [call, parameter] = AGGREGATES[name];
  return `${call}${kind}${parameter}(${of})`;
}

const EXAMPLES = ['count', ...Object.keys(AGGREGATES).map((name) => `${name}(field)`)].join(', ');
const CHARS_SHOWN_MAX = 100;
/** Fields of a row whose values are never numbers. */
const NEVER_NUMBERS: ReadonlySet<string> = new Set(['level', 'source', 'timestamp', 'metadata']);

/** Parses `count` or `p95(field)`. @returns `undefined` for `count` @throws TailraceError `invalid_parameter` */
export function parseMeasure(text: string): Measure | undefined {
  const [, name = '', inside] = /^\s*(\w{1,20})\s*(?:\(([\s\S]*)\))?\s*$/.exec(text) ?? [];
  if (name === 'count' && (inside ?? '').trim() === '') return undefined;
  if (name === 'count')
    throw reject('counts events and has no field; write count, or distinct(field) to count values');
  if (!isMeasure(name)) throw reject(`must be one of ${EXAMPLES}, not ${show(text)}`);
  const written = (inside ?? '').trim();
  if (written === '') throw reject(`needs a field, such as ${name}(response.time); ${name}() has none`);
  const field = parseField(written, MEASURE_PARAMETER);
  const printed = printField(field);
  if (isOfNumbers({ name, field }) && NEVER_NUMBERS.has(printed))
    throw reject(`needs a field with numbers, and ${printed} has none; write distinct(${printed})`);
  return { name, field };
}

const reject = (message: string) => rejectParameter(MEASURE_PARAMETER, message);
const isMeasure = (name: string): name is MeasureName => Object.hasOwn(AGGREGATES, name);
const show = (text: string) => JSON.stringify(text.slice(0, CHARS_SHOWN_MAX));

/** Writes what is measured of an event: a text, or a number, NULL for a text that is not one as JSON writes it. */
export function writeMeasured(measure: Measure, fields: Fields): string {
  const operand = fields.find(measure.field);
  if (!isOfNumbers(measure)) return toText(operand);
  if (operand.kind === 'integer') return `toFloat64(${operand.sql})`;
  if (operand.kind === 'number') return operand.sql;
  return operand.kind === 'text' || operand.kind === 'json'
    ? fields.number(operand.sql).double
    : "CAST(NULL, 'Nullable(Float64)')";
}

/** Says to a caller that gets no rows that no value was a number. */
function describeNumbers({ name, field }: Measure): string {
  const printed = printField(field).slice(0, CHARS_SHOWN_MAX); // a header
  return `no number was found in ${printed}, of which ${name} needs some; distinct(${printed}) counts values of any kind`;
}
