import type { ChartView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import { type Columns, type Drawn, toSeconds } from './answer-range.ts';
import type { Chart } from './chart.ts';
import { toTimeChart } from './draw-time.ts';
import {
  describeThreshold,
  findThreshold,
  findUnit,
  groupRows,
  labelsOf,
  numbersOf,
  type Rule,
  ruleOf,
  sum,
  titleOf,
  toNumber,
} from './rule.ts';

/** One bar for each value of a column. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly color: 'data-1' | 'data-bad' | 'data-other';
  /** The threshold that it is beyond. */
  readonly note: string | undefined;
}

/** A single number. */
export interface BigNumber {
  readonly label: string;
  readonly text: string;
  /** How it was found: `in all`, or `last`. */
  readonly note: string | undefined;
  readonly tone: 'warn' | 'bad' | undefined;
  /** Over time, oldest first; empty: there is no time. */
  readonly trend: readonly (number | null)[];
}

/** A chart with the values of an answer. */
export type Drawing =
  | { readonly kind: 'time'; readonly title: string; readonly chart: Chart }
  | { readonly kind: 'bars'; readonly title: string; readonly bars: readonly Bar[] }
  | { readonly kind: 'number'; readonly title: string; readonly numbers: readonly BigNumber[] }
  | { readonly kind: 'table'; readonly title: string; readonly columns: Columns };

/** Draws an answer as a chart says. */
export function toDrawing(chart: ChartView, drawn: Drawn): Drawing {
  const { suffix } = findUnit(chart.unit);
  const title = `${titleOf(chart, drawn.columns)}${suffix === undefined ? '' : `, ${suffix}`}`;
  if (chart.show === 'table') {
    const { values } = chart;
    const shown = values.flatMap((name) => drawn.columns.find((column) => column.name === name) ?? []);
    return { kind: 'table', title: chart.title ?? '', columns: values.length === 0 ? drawn.columns : shown };
  }
  if (chart.show === 'number')
    return { kind: 'number', title: chart.title ?? '', numbers: toNumbers(chart, drawn) };
  if (chart.time === null) return { kind: 'bars', title, bars: toBars(chart, drawn) };
  return { kind: 'time', title, chart: { title, ...toTimeChart({ ...chart, time: chart.time }, drawn) } };
}

const TOP = 20;

/** A bar for each value of the chart's `series`, the greatest first; those past `top` are one. */
function toBars(chart: ChartView, { columns, rows }: Drawn): Bar[] {
  const [value = ''] = chart.values;
  const { unit, joinOf } = ruleOf(chart, columns);
  const join = joinOf(value);
  const { shown, others } = groupRows(rows, chart.series ?? '', { value, join, top: chart.top ?? TOP });
  const barOf = (label: string, own: Drawn['rows'], color: Bar['color']): Bar => {
    const joined = join(numbersOf(own, value));
    const beyond = findThreshold(chart.thresholds, joined);
    return {
      label,
      value: joined ?? 0,
      text: joined === null ? '–' : unit.format(joined),
      color: beyond === undefined ? color : 'data-bad',
      note: beyond && describeThreshold(beyond, unit.format),
    };
  };
  const bars = shown.map(({ label, rows: own }) =>
    barOf(label, own, chart.bad.includes(label) ? 'data-bad' : 'data-1'),
  );
  return others === undefined ? bars : [...bars, barOf(others.label, others.rows, 'data-other')];
}

/** A number for each column: of counts the sum of all rows, else the value of the newest row, or of the first one without a time. */
function toNumbers(chart: ChartView, drawn: Drawn): BigNumber[] {
  const { time, values } = chart;
  const { rows } = drawn;
  const rule = ruleOf(chart, drawn.columns);
  const labels = labelsOf(values);
  const newest = time === null ? rows[0] : rows.toSorted((a, b) => timeOf(b, time) - timeOf(a, time))[0];
  const trends = time === null ? [] : toTimeChart({ ...chart, time, thresholds: [] }, drawn).series;
  return values.map((name, i) => {
    const value = rule.adds(name) ? sum(numbersOf(rows, name)) : toNumber(ownMember(newest ?? {}, name));
    const found = rule.adds(name) ? 'in all' : time === null ? 'first row' : 'last';
    return {
      label: labels[i] ?? name,
      ...describe(value, { chart, rule, note: rows.length > 1 ? found : undefined }),
      trend: trends[i]?.values ?? [],
    };
  });
}

const TONES = { critical: 'bad', warning: 'warn' } as const;

/** @param note of a value that is not beyond a threshold */
function describe(
  value: number | null,
  { chart, rule: { unit }, note }: { chart: ChartView; rule: Rule; note: string | undefined },
): Pick<BigNumber, 'text' | 'note' | 'tone'> {
  const suffix = unit.suffix === undefined ? '' : ` ${unit.suffix}`;
  const text = value === null ? '–' : `${unit.format(value)}${suffix}`;
  const beyond = findThreshold(chart.thresholds, value);
  if (beyond === undefined) return { text, note, tone: undefined };
  return { text, note: describeThreshold(beyond, unit.format), tone: TONES[beyond.severity] };
}

function timeOf(row: Drawn['rows'][number], time: string): number {
  const seconds = toSeconds(ownMember(row, time));
  return Number.isNaN(seconds) ? Number.NEGATIVE_INFINITY : seconds;
}
