import type { ChartView } from '../../../../src/management/view.ts';
import type { Bar, Drawn } from './draw.ts';
import { describeThreshold, findThreshold, ruleOf } from './rule.ts';
import { groupRows, numbersOf, sum } from './series.ts';

const TOP = 20;

/** A bar for each value of the chart's `series`, the greatest first; those past `top` are one. */
export function toBars(chart: ChartView, { columns, rows }: Drawn): Bar[] {
  const [value = ''] = chart.values;
  const { unit, joinOf } = ruleOf(chart, columns);
  const join = joinOf(value);
  const groups = groupRows(rows, chart.series ?? '', (own) => join(numbersOf(own, value)) ?? 0);
  const top = chart.top ?? TOP;
  const shown = groups.length === top + 1 ? groups : groups.slice(0, top);
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
  const rest = groups.slice(shown.length);
  if (rest.length === 0) return bars;
  const label = `${rest.length} others${join === sum ? '' : ', greatest'}`;
  const others = rest.flatMap((group) => group.rows);
  return [...bars, barOf(label, others, 'data-other')];
}
