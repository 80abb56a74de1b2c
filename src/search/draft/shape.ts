import { SERIES_MAX as DRAWN_MAX } from '../../definitions/chart.ts';
import type { Source } from '../../definitions/source.ts';
import { MICROS_PER_SECOND } from '../../lib/instant.ts';
import { writeValue } from '../../sql/sql.ts';
import { toText } from '../condition.ts';
import { type Fields, findColumn } from '../field.ts';
import {
  type Histogram,
  isOfNumbers,
  listColumns,
  type Measure,
  OTHER_VALUES,
  readHistogram,
  SERIES_MAX,
  widthOf,
  writeMeasure,
  writeMeasured,
} from '../histogram.ts';
import { printField, type SearchField } from '../parse.ts';
import { COUNT, isLevel, type PartRequest, readField, readLimit } from '../part.ts';
import { ROW_COLUMNS, ROWS_DEFAULT, VALUES_MAX } from '../plan.ts';
import { type DraftShape, WORDS } from './query.ts';

/** The shapes of the parts that can be one SELECT. */
export const SHAPES: Readonly<Record<string, (request: PartRequest) => DraftShape>> = {
  rows: shapeRows,
  histogram: shapeSeries,
  values: shapeTop,
};

const ofColumn = (name: string) => (fields: Fields) => fields.column(name);
const ofField = (field: SearchField) => (fields: Fields) => toText(fields.find(field));

/** The first page. */
function shapeRows({ values }: PartRequest): DraftShape {
  const size = readLimit(values, ROWS_DEFAULT);
  return {
    title: 'newest',
    description: 'Newest events',
    items: {
      source: ofField(['source']),
      id: ofColumn('id'),
      at: ofColumn('timestamp'),
      project: ofColumn('project'),
      level: ofField(['level']),
      event_message: ofColumn('event_message'),
      metadata: ofColumn('metadata'),
    },
    select: `SELECT
  source,
  id,
  toUnixTimestamp64Micro(at) AS timestamp,
  project,
  level,
  event_message,
  metadata
FROM events
ORDER BY at DESC, id DESC, source DESC, project DESC
LIMIT ${size}`,
    columns: ROW_COLUMNS,
    maxRows: size,
    chart: { show: 'table' },
  };
}

/** The most frequent values. */
function shapeTop({ scope, values }: PartRequest): DraftShape {
  const field = readField(values, 'field');
  const name = nameOf(field, scope.sources);
  const printed = printField(field);
  return {
    title: `top-${slug(printed)}`,
    description: `Most frequent values of ${printed} in events`,
    items: { [name]: ofField(field) },
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

const ROWS_MAX = 10_000;
const SERIES = 'series';
const TIME =
  'toUnixTimestamp64Micro(toStartOfInterval(at, toIntervalMicrosecond(round(@step * 1000000)), range_from)) ' +
  'AS timestamp';

/** Counts, and a measure, by time and series. One time bucket has no column. */
function shapeSeries(request: PartRequest): DraftShape {
  const {
    scope: { sources },
    values,
  } = request;
  const histogram = readHistogram(values);
  const { by, measure, top } = histogram;
  const hasTime = values['buckets'] !== '1';
  const series = nameOf(by, sources);
  // The chart draws the most frequent levels: finding them in SQL would take the engine long to analyse, since a level
  // is a long expression.
  const isOfFew = printField(by) === 'source' && top === undefined && sources.length <= SERIES_MAX;
  const isWhole = isLevel(by) || isOfFew;
  const keys = [...(hasTime ? ['timestamp'] : []), series];
  const items = {
    ...(hasTime && { at: ofColumn('timestamp') }),
    [isWhole ? series : SERIES]: ofField(by),
    ...(measure && { measured: (fields: Fields) => writeMeasured(measure, fields) }),
  };
  const named = listColumns({ ...histogram, name: series, top: undefined });
  return {
    ...describe(histogram, hasTime),
    items,
    ...(!isWhole && { members: writeTop(Object.keys(items), series, top ?? SERIES_MAX) }),
    select: writeSelect(keys, measure, isWhole ? 'events' : DRAWN),
    columns: named.filter(({ name }) => keys.includes(name) || ['count', 'value'].includes(name)),
    maxRows: ROWS_MAX,
    chart: chartOf(histogram, hasTime, series),
    ...(hasTime && { stepSeconds: widthOf(request) / MICROS_PER_SECOND }),
    isRounded: measure?.name === 'avg' || measure?.name === 'sum',
  };
}

function describe({ by, measure }: Histogram, hasTime: boolean): Pick<DraftShape, 'title' | 'description'> {
  const what = measure === undefined ? 'Number' : `${measure.name} of ${printField(measure.field)}`;
  const title = measure === undefined ? 'count' : slug(what);
  const series = printField(by);
  return {
    title: slug(series) === '' ? title : `${title}-by-${slug(series)}`,
    description: `${what}${hasTime ? ' over time' : ''} by ${series} of events`,
  };
}

const DRAWN = 'drawn';

/**
 * Writes the members of WITH that find the most frequent series, and name the rest. The last SELECT reads plain
 * columns: each use of an alias is analysed anew.
 */
function writeTop(items: readonly string[], column: string, top: number): string[] {
  const selected = items.map((name) =>
    name === SERIES
      ? `if(${SERIES} IS NULL OR ${SERIES} IN (SELECT ${SERIES} FROM top_series), ${SERIES}, ` +
        `${writeValue(OTHER_VALUES)}) AS ${column}`
      : name,
  );
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

function writeSelect(keys: readonly string[], measure: Measure | undefined, from: string): string {
  const results = [
    ...keys.map((key) => (key === 'timestamp' ? TIME : key)),
    'count() AS count',
    ...(measure === undefined ? [] : [`${writeMeasure(measure, 'measured')} AS value`]),
  ];
  return [
    `SELECT\n  ${results.join(',\n  ')}`,
    `FROM ${from}`,
    `GROUP BY ${keys.join(', ')}`,
    ...(measure && isOfNumbers(measure) ? ['HAVING value IS NOT NULL'] : []),
    `ORDER BY ${keys.join(', ')}`,
  ].join('\n');
}

/** Draws what Explore draws: stacks of what can be added, otherwise lines; without time bars. */
function chartOf({ measure, by, top }: Histogram, hasTime: boolean, series: string): DraftShape['chart'] {
  const isAdditive = measure === undefined || measure.name === 'sum';
  return {
    show: !hasTime ? 'bar' : isAdditive ? 'stacked' : 'line',
    ...(hasTime && { time: 'timestamp' }),
    ...{ series, values: [measure === undefined ? 'count' : 'value'] },
    ...(isLevel(by) && { bad: ['error', 'fatal'] }),
    ...(isLevel(by) && top !== undefined && { top: Math.min(top, DRAWN_MAX) }),
  };
}

const TAKEN = new Set([
  ...WORDS,
  ...'at count events measured range_from range_until series timestamp value'.split(' '),
]);
const NAME_CHARS_MAX = 50;

/** Returns the name for the column of a field's values: that of its typed column, or its own words. */
function nameOf(field: SearchField, sources: readonly Source[]): string {
  const column = sources.map((source) => findColumn(source, field)?.name).find((one) => one !== undefined);
  const words = (column ?? field.join('_')).replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  const name = (/^[A-Za-z]/.test(words) ? words : `field_${words}`).slice(0, NAME_CHARS_MAX);
  return TAKEN.has(name.toLowerCase()) ? `${name}_value` : name;
}

const SLUG_CHARS_MAX = 60;

/** Returns the words of a text as a part of an endpoint's name. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}
