import type { ChartView } from '../../management/view.ts';
import { isOverTime } from './target.ts';

const UNITS: ReadonlyMap<string | null, string> = new Map([
  [null, 'short'],
  ...(['ms', 'µs', 's', 'bytes'] as const).map((name) => [name, name] as const),
  ['%', 'percent'],
  ['ratio', 'percentunit'],
]);

/** How Grafana writes and colours the values of a chart. */
export function toFieldConfig(chart: ChartView): object {
  if (chart.show === 'table') return { defaults: {}, overrides: [] };
  return {
    defaults: {
      unit: UNITS.get(chart.unit) ?? `suffix: ${chart.unit}`,
      thresholds: { mode: 'absolute', steps: toSteps(chart.thresholds) },
      ...(isOverTime(chart) ? toTimeFields(chart) : { color: { mode: 'thresholds' } }),
    },
    overrides: [...toBand(chart.band), ...chart.bad.map((name) => override(name, 'color', FAILURE))],
  };
}

const FAILURE = { mode: 'fixed', fixedColor: 'red' };
const FILL = 15;
const FILL_STACKED = 60;

function toTimeFields({ show, series, values, thresholds }: ChartView): object {
  const isStacked = show === 'stacked' || (show === 'bar' && (series !== null || values.length > 1));
  return {
    // Otherwise the name of the column stands before each value of the series.
    ...(series !== null && { displayName: `$\{__field.labels.${series}}` }),
    color: { mode: 'palette-classic' },
    custom: {
      drawStyle: show === 'bar' ? 'bars' : 'line',
      fillOpacity: show === 'line' ? FILL : FILL_STACKED,
      stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
      thresholdsStyle: { mode: thresholds.length > 0 ? 'line' : 'off' },
    },
  };
}

/** The area between the least and the greatest value. */
function toBand([least, most]: readonly string[]): object[] {
  if (least === undefined || most === undefined) return [];
  return [
    override(most, 'custom.fillBelowTo', least),
    ...[least, most].map((name) => override(name, 'custom.lineWidth', 0)),
  ];
}

function override(name: string, id: string, value: unknown): object {
  return { matcher: { id: 'byName', options: name }, properties: [{ id, value }] };
}

const COLORS = { critical: 'red', warning: 'orange' } as const;

/** Grafana's steps, each up to the next: the colour of the most severe threshold that its values are beyond. */
function toSteps(thresholds: ChartView['thresholds']): { color: string; value: number | null }[] {
  const limits = [...new Set(thresholds.map(({ value }) => value))].toSorted((a, b) => a - b);
  return [null, ...limits].map((from) => {
    const value = from ?? Number.NEGATIVE_INFINITY;
    const beyond = thresholds.filter((one) => (one.is === 'above' ? value >= one.value : value < one.value));
    const worst = beyond.find(({ severity }) => severity === 'critical') ?? beyond[0];
    return { color: worst === undefined ? 'green' : COLORS[worst.severity], value: from };
  });
}
