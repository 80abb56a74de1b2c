import { addsUp } from '../../../../src/management/panel-view.ts';
import type { ChartView } from '../../../../src/management/view.ts';
import { formatShort } from '../../format/number.ts';
import type { Columns } from './draw.ts';
import { greatest, type Join, sum } from './series.ts';
import { findUnit, type Unit } from './unit.ts';

/** How the values of a chart are joined and written. */
export interface Rule {
  readonly unit: Unit;
  /** Whether the values of the column add up: counts do, averages and durations do not. */
  readonly adds: (column: string) => boolean;
  readonly joinOf: (column: string) => Join;
}

export function ruleOf(chart: Pick<ChartView, 'unit' | 'show'>, columns: Columns): Rule {
  const adds = (column: string) => addsUp(chart, columns, column);
  return { unit: findUnit(chart.unit), adds, joinOf: (column) => (adds(column) ? sum : greatest) };
}

/** The threshold that a value is beyond, the most severe first. */
export function findThreshold(
  thresholds: ChartView['thresholds'],
  value: number | null,
): ChartView['thresholds'][number] | undefined {
  if (value === null) return undefined;
  const beyond = thresholds.filter(({ is, value: limit }) =>
    is === 'above' ? value > limit : value < limit,
  );
  return beyond.find(({ severity }) => severity === 'critical') ?? beyond[0];
}

/** `slow: above 1 s` */
export function describeThreshold(
  { is, value, label }: ChartView['thresholds'][number],
  format: Unit['format'] = formatShort,
): string {
  return `${label === null ? '' : `${label}: `}${is} ${format(value)}`;
}
