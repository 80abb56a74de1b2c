import { type Static, Type } from 'typebox';
import { closed, listOf, oneOf, optional, shortText, wholeNumber } from '../lib/schema.ts';

// Imports nothing of the service: management/view.ts uses the names, and the console imports that file.

/** How a chart is drawn. */
export const CHART_KINDS = ['line', 'bar', 'stacked', 'table', 'number'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** What a threshold says about values beyond it. */
export const THRESHOLD_SEVERITIES = ['warning', 'critical'] as const;

const CHARTS_MAX = 6;
const VALUES_MAX = 12;
const THRESHOLDS_MAX = 5;
/** Over time each series has its colour. */
export const SERIES_MAX = 7;
const BARS_MAX = 50;

export const COLUMN_NAME = Type.String({ minLength: 1, expected: 'the name of a column; put it in quotes' });
export const CHART_TITLE = shortText(100);
export const CHART_UNIT = shortText(20, {
  expected: 'a string of 1 to 20 characters, such as ms, bytes or "%"',
});
export const CHART_COLUMNS = listOf(COLUMN_NAME, [1, VALUES_MAX], 'different columns');

const THRESHOLD = optional({
  above: Type.Number(),
  below: Type.Number(),
  severity: oneOf(THRESHOLD_SEVERITIES),
  label: CHART_TITLE,
});

const CHART = closed(
  optional({
    show: oneOf(CHART_KINDS),
    title: CHART_TITLE,
    time: COLUMN_NAME, // integers in microseconds since 1970, or texts in ISO 8601
    series: COLUMN_NAME, // a series for each of its values
    values: CHART_COLUMNS,
    unit: CHART_UNIT,
    band: Type.Array(COLUMN_NAME, {
      ...{ minItems: 2, maxItems: 2, uniqueItems: true },
      expected: 'the two columns of the least and the greatest value',
    }),
    bad: listOf(Type.String(), [1, VALUES_MAX], 'different texts; put numbers in quotes'),
    // Series that are drawn; the others are drawn as one. Without it, as many as are readable.
    top: wholeNumber(BARS_MAX, {
      expected: `a whole number from 1 to ${SERIES_MAX}; without "time", up to ${BARS_MAX} bars`,
    }),
    thresholds: listOf(
      closed(THRESHOLD, { expected: 'a map with one of "above" and "below"' }),
      [1, THRESHOLDS_MAX],
      'thresholds',
    ),
  }),
);

/** `chart` of endpoint.yaml: one chart, or several of the same rows. */
export const CHART_FIELDS = Type.Union(
  [CHART, Type.Array(CHART, { minItems: 1, maxItems: CHARTS_MAX })],
  // A fault within one of them says more than that of the union.
  { expected: `a map of fields, or a list of 1 to ${CHARTS_MAX} such maps`, prefersInner: true },
);

export type ChartFields = Static<typeof CHART>;

/** How an answer is drawn: the fields of the file, with their defaults. Each column is one of the endpoint's. */
export type Chart = ReturnType<typeof createCharts>[number];

/** Returns the charts of the field with the path of each in the file. */
export function listCharts(
  chart: ChartFields | readonly ChartFields[] | undefined,
): { readonly path: readonly (string | number)[]; readonly fields: ChartFields }[] {
  const isList = Array.isArray(chart);
  return [chart ?? []].flat().map((fields, i) => ({ path: isList ? ['chart', i] : ['chart'], fields }));
}

/** Creates the charts of a field in which `checkCharts` found no fault. */
export function createCharts(chart: ChartFields | readonly ChartFields[] | undefined) {
  return listCharts(chart).map(({ fields }) => ({
    ...fields,
    show: kindOf(fields),
    /** Columns to draw; a table without them has every column. */
    values: fields.values ?? [],
    /** Least and greatest, drawn as an area behind the lines. */
    band: fields.band ?? [],
    /** Names of values, or values of `series`, that are drawn in the colour of failures. */
    bad: fields.bad ?? [],
    thresholds: (fields.thresholds ?? []).map(({ above, below = 0, severity = 'critical', label }) => ({
      is: above === undefined ? ('below' as const) : ('above' as const),
      value: above ?? below,
      ...{ severity, label },
    })),
  }));
}

export function kindOf({ show }: Pick<ChartFields, 'show'>): ChartKind {
  return show ?? 'line';
}

// Imports nothing of the service: management/dashboard-view.ts uses the names, and the console imports that file.

/** What a panel shows: a kind of chart, or a text of the author. */
export const PANEL_KINDS = [...CHART_KINDS, 'text'] as const;
