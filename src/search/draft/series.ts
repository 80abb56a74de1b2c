import { SERIES_MAX as DRAWN_MAX } from '../../definitions/chart.ts';
import type { ResultColumn } from '../../definitions/endpoint.ts';
import type { Source } from '../../definitions/source.ts';
import { MICROS_PER_SECOND } from '../../lib/instant.ts';
import { writeValue } from '../../sql/quote.ts';
import { isLevel } from '../arms.ts';
import { findColumn } from '../field.ts';
import { type Histogram, OTHER_VALUES, SERIES_MAX } from '../histogram.ts';
import { AGGREGATES, type Measure } from '../measure.ts';
import { type PartRequest, readField } from '../part.ts';
import { COUNT, readHistogram, widthOf } from '../plan.ts';
import { VALUES_MAX } from '../statement.ts';
import { printField, type SearchField } from '../tree.ts';
import { toText, writeToNumber } from './condition.ts';
import type { Names } from './names.ts';
import { type DraftShape, type Item, nameOf, slug } from './shape.ts';

const ROWS_MAX = 10_000;
const TIME_COLUMN: ResultColumn = {
  name: 'timestamp',
  type: 'integer',
  description: 'Start of the time bucket, microseconds since the epoch, UTC.',
};
const TAKEN = ['at', 'count', 'events', 'measured', 'series', 'timestamp', 'value'];

/** A column of the rows, and what it is computed from. */
interface Output {
  readonly column: ResultColumn;
  readonly sql: string;
  readonly item?: Item;
  /** Whether the rows are grouped by it. */
  readonly isKey?: boolean;
}

const TIME: Output = {
  column: TIME_COLUMN,
  sql: 'toUnixTimestamp64Micro(toStartOfInterval(at, toIntervalMicrosecond(@step * 1000000))) AS timestamp',
  item: { name: 'at', write: (names) => names.column('timestamp') },
  isKey: true,
};
const COUNTED: Output = { column: COUNT, sql: 'count() AS count' };

/** Plans the draft of `part=histogram`. */
export function planSeries({ scope, values, range }: PartRequest): DraftShape {
  const histogram = readHistogram(values);
  const { measure, by } = histogram;
  const series = planOneSeries(histogram, scope.sources);
  const hasTime = values['buckets'] !== '1';
  const outputs = [
    ...(hasTime ? [TIME] : []),
    ...(series === undefined ? [] : [series]),
    COUNTED,
    ...(measure === undefined ? [] : [planMeasure(measure)]),
  ];
  const stepSeconds = Math.max(1, Math.ceil(widthOf(range, values) / MICROS_PER_SECOND));
  return {
    ...nameSeries(measure, { hasTime, by: series === undefined ? '' : printField(by) }),
    items: outputs.flatMap(({ item }) => item ?? []),
    ...(series?.replaced !== undefined && { members: writeTop(outputs, series.replaced) }),
    select: writeSelect(outputs, measure, series?.replaced === undefined ? 'events' : DRAWN),
    columns: outputs.map(({ column }) => column),
    maxRows: ROWS_MAX,
    chart: chartOf({ hasTime, histogram, series: series?.column.name }),
    ...(hasTime && { stepSeconds }),
    isRounded: measure?.name === 'avg' || measure?.name === 'sum',
  };
}

/** A series with the values of the most frequent ones, and one text for all others. */
interface Series extends Output {
  readonly replaced?: number;
}

const DRAWN = 'drawn';

/**
 * Writes the members of WITH that find the most frequent series, and name the rest. The last SELECT reads plain
 * columns: each use of an alias is analysed anew.
 */
function writeTop(outputs: readonly Output[], top: number): string[] {
  const selected = outputs.flatMap(({ column, item }) => {
    if (item === undefined) return [];
    if (item.name !== SERIES) return [item.name];
    return [
      `if(${SERIES} IS NULL OR ${SERIES} IN (SELECT ${SERIES} FROM top_series), ${SERIES}, ` +
        `${writeValue(OTHER_VALUES)}) AS ${column.name}`,
    ];
  });
  return [
    `top_series AS (
    SELECT ${SERIES}
    FROM events
    WHERE ${SERIES} IS NOT NULL
    GROUP BY ${SERIES}
    ORDER BY count() DESC, ${SERIES}
    LIMIT ${top}
  )`,
    `${DRAWN} AS (
    SELECT ${selected.join(', ')}
    FROM events
  )`,
  ];
}

const SERIES = 'series';

function writeSelect(outputs: readonly Output[], measure: Measure | undefined, from: string): string {
  const keys = outputs.flatMap(({ column, isKey }) => (isKey === true ? [column.name] : [])).join(', ');
  const isOfNumbers = measure !== undefined && AGGREGATES[measure.name].isOfNumbers;
  return [
    `SELECT\n  ${outputs.map(({ sql }) => sql).join(',\n  ')}`,
    `FROM ${from}`,
    ...(keys === '' ? [] : [`GROUP BY ${keys}`]),
    ...(isOfNumbers ? ['HAVING value IS NOT NULL'] : []),
    ...(keys === '' ? [] : [`ORDER BY ${keys}`]),
  ].join('\n');
}

function nameSeries(measure: Measure | undefined, { hasTime, by }: { hasTime: boolean; by: string }) {
  const of = measure === undefined ? '' : printField(measure.field);
  const what = measure === undefined ? 'Number' : `${measure.name} of ${of}`;
  const title = measure === undefined ? 'count' : slug(`${measure.name} of ${of}`);
  return {
    title: slug(by) === '' ? title : `${title}-by-${slug(by)}`,
    description: `${what}${hasTime ? ' over time' : ''}${by === '' ? '' : ` by ${by}`} of events`,
  };
}

/** Plans the column of the series; `undefined` if all events are of one. */
function planOneSeries({ by, top }: Histogram, sources: readonly Source[]): Series | undefined {
  const printed = printField(by);
  if (printed === 'source' && sources.length === 1) return undefined;
  const name = nameOf(by, findColumnName(by, sources), TAKEN);
  // The chart draws the most frequent levels: finding them in SQL would take the engine long to analyse, since a level
  // is a long expression.
  const isWhole = isLevel(by) || (printed === 'source' && top === undefined && sources.length <= SERIES_MAX);
  const write = (names: Names) => writeText(names, by);
  return {
    column: { name, type: 'string', description: `Value of ${printed}.` },
    sql: name,
    item: { name: isWhole ? name : SERIES, write },
    isKey: true,
    ...(!isWhole && { replaced: top ?? SERIES_MAX }),
  };
}

function findColumnName(field: SearchField, sources: readonly Source[]): string | undefined {
  return sources.map((source) => findColumn(source, field)?.name).find((one) => one !== undefined);
}

/** Writes the value of a field as a text. */
function writeText(names: Names, field: SearchField): string {
  return toText(names.find(field));
}

function planMeasure({ name, field }: Measure): Output {
  const { call, parameter, isOfNumbers } = AGGREGATES[name];
  const write = (names: Names) => (isOfNumbers ? writeNumber(names, field) : writeText(names, field));
  const printed = printField(field);
  const column: ResultColumn = isOfNumbers
    ? { name: 'value', type: 'number', description: `${name} of ${printed}.` }
    : { name: 'value', type: 'integer', description: `Number of different values of ${printed}.` };
  return { item: { name: 'measured', write }, column, sql: `${call}${parameter}(measured) AS value` };
}

function writeNumber(names: Names, field: SearchField): string {
  const named = names.find(field);
  if (named.kind === 'integer') return `toFloat64(${named.sql})`;
  if (named.kind === 'number') return named.sql;
  return named.kind === 'text' || named.kind === 'json'
    ? writeToNumber(named.sql)
    : "CAST(NULL, 'Nullable(Float64)')";
}

interface Drawn {
  readonly hasTime: boolean;
  readonly histogram: Histogram;
  readonly series: string | undefined;
}

/** Draws what Explore draws: stacks of what can be added, otherwise lines; without time bars, or one number. */
function chartOf({ hasTime, histogram, series }: Drawn): DraftShape['chart'] {
  const { measure, by, top } = histogram;
  const isAdditive = measure === undefined || measure.name === 'sum';
  const own = {
    ...(hasTime && { time: 'timestamp' }),
    ...(series !== undefined && { series }),
    values: [measure === undefined ? 'count' : 'value'],
    ...(series !== undefined && isLevel(by) && { bad: ['error', 'fatal'] }),
    ...(series !== undefined && isLevel(by) && top !== undefined && { top: Math.min(top, DRAWN_MAX) }),
  };
  if (!hasTime) return { show: series === undefined ? 'number' : 'bar', ...own };
  return { show: !isAdditive ? 'line' : series === undefined ? 'bar' : 'stacked', ...own };
}

/** Plans the draft of `part=values`. */
export function planTop({ scope, values }: PartRequest): DraftShape {
  const field = readField(values, 'field');
  const name = nameOf(field, findColumnName(field, scope.sources), TAKEN);
  const printed = printField(field);
  return {
    title: `top-${slug(printed)}`,
    description: `Most frequent values of ${printed} in events`,
    items: [{ name, write: (names) => writeText(names, field) }],
    select: `SELECT
  ${name},
  count() AS count
FROM events
WHERE ${name} IS NOT NULL
GROUP BY ${name}
ORDER BY count DESC, ${name}
LIMIT ${VALUES_MAX}`,
    columns: [{ name, type: 'string', description: `Value of ${printed}.` }, COUNT],
    maxRows: VALUES_MAX,
    chart: { show: 'bar', series: name, values: ['count'] },
  };
}
