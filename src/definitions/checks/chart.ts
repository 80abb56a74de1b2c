import { type ChartFields, type ChartKind, kindOf, listCharts, SERIES_MAX } from '../chart.ts';
import type { EndpointFile, ResultType } from '../endpoint.ts';
import type { FieldFaults, YamlPath } from '../yaml-file.ts';

/** Checks that each chart names columns of the answer, of types that it can draw, and only fields that its kind has. */
export function* findChartFaults({ chart, columns }: EndpointFile): FieldFaults {
  for (const { path, fields } of listCharts(chart))
    for (const find of CHECKS)
      for (const [at, message] of find(fields, columns)) yield [[...path, ...at], message];
}

const CHECKS = [
  findUnknownFields,
  findMissingFields,
  findSeriesFaults,
  findColumnFaults,
  findRoleFaults,
  findThresholdFaults,
];

type ChartField = keyof ChartFields;

/** Fields that a chart of a kind has, besides `show`, `title` and `values`. */
const FIELDS: Readonly<Record<ChartKind, readonly ChartField[]>> = {
  line: ['time', 'series', 'unit', 'band', 'bad', 'top', 'thresholds'],
  stacked: ['time', 'series', 'unit', 'bad', 'top', 'thresholds'],
  bar: ['time', 'series', 'unit', 'bad', 'top', 'thresholds'],
  number: ['time', 'unit', 'thresholds'],
  table: [],
};
const OF_ALL: readonly string[] = ['show', 'title', 'values'] satisfies ChartField[];

function* findUnknownFields(chart: ChartFields): FieldFaults {
  const kind = kindOf(chart);
  const known: readonly string[] = [...OF_ALL, ...FIELDS[kind]];
  for (const field of Object.keys(chart).filter((one) => !known.includes(one)))
    yield [[field], `"${field}" is not a field of "show: ${kind}", which has ${known.join(', ')}`];
}

function* findMissingFields(chart: ChartFields): FieldFaults {
  const kind = kindOf(chart);
  const { time, series, values } = chart;
  if ((kind === 'line' || kind === 'stacked') && time === undefined)
    yield [
      ['time'],
      `"time" is missing: "show: ${kind}" draws over time; name its column, or show bar, number or table`,
    ];
  if (kind === 'bar' && time === undefined && series === undefined)
    yield [
      ['time'],
      '"show: bar" needs "time" for bars over time, or "series" for a bar for each of its values',
    ];
  if (kind !== 'table' && values === undefined)
    yield [['values'], '"values" is missing: the columns to draw'];
}

function* findSeriesFaults({ time, series, values = [], band, top = 0 }: ChartFields): FieldFaults {
  if (series !== undefined && values.length > 1)
    yield [['values', 1], 'with "series", "values" must be one column; write a chart for each of the others'];
  if (series !== undefined && band !== undefined)
    yield [['band'], '"band" is of one series; remove it or "series"'];
  if (top > 0 && series === undefined)
    yield [['top'], '"top" needs "series", the column of which it counts the values'];
  if (top > SERIES_MAX && time !== undefined)
    yield [['top'], `"top" must be at most ${SERIES_MAX} with "time", since each series has a colour`];
}

interface Need {
  readonly types: readonly ResultType[];
  /** The end of the sentence "must be …". */
  readonly as: string;
}

const TIME: Need = {
  types: ['integer', 'string'],
  as: 'an integer, in microseconds since 1970, or a string in ISO 8601',
};
const NUMBER: Need = { types: ['integer', 'number'], as: 'an integer or a number' };
const SERIES: Need = { types: ['string', 'integer', 'boolean'], as: 'a string, an integer or a boolean' };
const ANY: Need = { types: ['string', 'integer', 'number', 'boolean', 'json'], as: '' };

function* findColumnFaults(chart: ChartFields, columns: EndpointFile['columns']): FieldFaults {
  const values = kindOf(chart) === 'table' ? ANY : NUMBER;
  const needs = { time: TIME, series: SERIES, band: NUMBER, values };
  const known = Object.keys(columns).join(', ');
  for (const { path, field, name } of listUses(chart)) {
    const { types, as } = needs[field];
    const type = Object.hasOwn(columns, name) ? columns[name]?.type : undefined;
    if (type === undefined)
      yield [path, `"${field}" must name one of "columns": ${known}; not ${JSON.stringify(name)}`];
    else if (!types.includes(type))
      yield [path, `"${name}" in "${field}" must be ${as}, not of type ${type}`];
  }
}

type ColumnField = 'time' | 'series' | 'values' | 'band';

/** The columns that a chart names, with the place of each. */
function listUses(chart: ChartFields): { path: YamlPath; field: ColumnField; name: string }[] {
  const single = (['time', 'series'] as const).flatMap((field) => {
    const name = chart[field];
    return name === undefined ? [] : [{ path: [field], field, name }];
  });
  const lists = (['values', 'band'] as const).flatMap((field) =>
    (chart[field] ?? []).map((name, i) => ({ path: [field, i], field, name })),
  );
  return [...single, ...lists];
}

function* findRoleFaults(chart: ChartFields): FieldFaults {
  const uses = listUses(chart);
  for (const [i, { path, name }] of uses.entries()) {
    const before = uses.slice(0, i).find((one) => one.name === name);
    if (before !== undefined) yield [path, `"${name}" is already "${before.field}": a column has one role`];
  }
  const { series, values = [], bad = [] } = chart;
  if (series !== undefined) return; // `bad` has values of the column
  for (const [i, name] of bad.entries())
    if (!values.includes(name))
      yield [['bad', i], `"bad" must name columns of "values", not ${JSON.stringify(name)}`];
}

function* findThresholdFaults({ thresholds = [] }: ChartFields): FieldFaults {
  for (const [i, { above, below }] of thresholds.entries())
    if ((above === undefined) === (below === undefined))
      yield [['thresholds', i], 'a threshold must have one of "above" and "below"'];
}
