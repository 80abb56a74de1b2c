import type { ChartView, EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import type { AnswerRange } from './answer-range.ts';
import type { Chart } from './chart.ts';
import { toBars } from './draw-bars.ts';
import { toNumbers } from './draw-numbers.ts';
import { toTimeChart } from './draw-time.ts';
import { titleOf } from './label.ts';
import { findUnit } from './unit.ts';

export type Columns = EndpointView['columns'];

/** An answer that is drawn. */
export interface Drawn {
  readonly columns: Columns;
  readonly rows: readonly Row[];
  /** What it covers, if that is known. */
  readonly range?: AnswerRange | undefined;
}

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
