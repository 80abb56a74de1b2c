import type { AlertDetailView, AlertView } from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatShort } from '../../format/show.ts';
import type { Chart, ChartSeries } from '../../ui/chart/chart.ts';
import { linesPath } from '../endpoint/lines.ts';

type Charted = Pick<AlertDetailView, 'chart' | 'when' | 'every_seconds'>;

const POINT_SECONDS = 300;
const DAY_SECONDS = 86_400;

/** The chart of the last day: the extreme that the condition compares, and the threshold. @param search of the column */
export function toChart(alert: Charted, nowMs: number, search: string | undefined): Chart {
  const { column, threshold, points } = alert.chart;
  const width = Math.max(POINT_SECONDS, alert.every_seconds);
  const last = Math.floor(nowMs / 1000 / width);
  const first = last - Math.ceil(DAY_SECONDS / width) + 1;
  const spans = Array.from({ length: last - first + 1 }, (_, i) => ({
    from: (first + i) * width,
    until: (first + i + 1) * width,
  }));
  const isBelow = alert.when?.is === 'below';
  const worst = isBelow ? Math.min : Math.max;
  const places = Map.groupBy(points, ({ at }) => Math.floor(Date.parse(at) / 1000 / width));
  const values = spans.map((_, i) => {
    const own = places.get(first + i);
    return own === undefined ? null : worst(...own.map(({ low, high }) => (isBelow ? low : high)));
  });
  const label = column === null ? 'Rows that count' : `${isBelow ? 'Least' : 'Greatest'} ${column}`;
  const kind = column === null ? 'area' : 'line';
  const shown: ChartSeries = { label, color: 'data-1', kind, values, search };
  const limit: ChartSeries = {
    ...{ label: 'Threshold', color: 'data-bad', kind: 'dashed' },
    values: spans.map(() => threshold),
  };
  return {
    title: column ?? 'Rows',
    ...{ spans, partial: new Map(), format: formatShort, summary: describeLast },
    series: threshold === null ? [shown] : [shown, limit],
  };
}

function describeLast(values: readonly (number | null)[]): string {
  const value = values.findLast((one) => one !== null);
  return value == null ? '–' : formatShort(value);
}

type Asked = Pick<AlertView, 'parameters' | 'when' | 'since'>;

const HOUR_SECONDS = 3600;

/** The alert's parameters as the form of its endpoint has them. */
export function valuesOf({ parameters }: Pick<AlertView, 'parameters'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, [value].flat().join(',')]),
  );
}

export function searchOf({ when }: Asked, { columns }: Pick<EndpointView, 'columns'>): string | undefined {
  return columns.find(({ name }) => name === when?.column)?.search ?? undefined;
}

/** The path of Explore with the lines that the condition is about: from an hour before it began to hold, or the last hour. */
export function alertLinesPath(alert: Asked, endpoint: EndpointView, nowMs: number): string | undefined {
  const sinceMs = alert.since === null ? nowMs : Date.parse(alert.since);
  const span = { from: Math.floor(sinceMs / 1000) - HOUR_SECONDS, until: Math.ceil(nowMs / 1000) };
  return linesPath(endpoint, valuesOf(alert), { span, search: searchOf(alert, endpoint) });
}
