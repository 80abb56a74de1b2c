import type { ChartView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import type { BigNumber, Drawn } from './draw.ts';
import { toTimeChart } from './draw-time.ts';
import { toSeconds } from './grid.ts';
import { labelsOf } from './label.ts';
import { describeThreshold, findThreshold, type Rule, ruleOf } from './rule.ts';
import { numbersOf, sum, toNumber } from './series.ts';

/** A number for each column: of counts the sum of all rows, else the value of the newest row, or of the first one without a time. */
export function toNumbers(chart: ChartView, drawn: Drawn): BigNumber[] {
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
