import { useMemo } from 'react';
import type { AlertDetailView } from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { Span } from '../../format/time-axis.ts';
import { LinkedCharts } from '../../ui/chart/linked-charts.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';
import { linesPath, whyNoLines } from '../endpoint/lines.ts';
import { toChart } from './chart.ts';
import { searchOf, valuesOf } from './lines.ts';

/** The time of the service, as far as its ticks say: the clock of this machine may be wrong. */
function serviceNow({ next_evaluation: next, every_seconds: every }: AlertDetailView): number {
  const nextMs = Date.parse(next);
  return Math.min(Math.max(Date.now(), nextMs - every * 1000), nextMs);
}

interface AlertChartProps {
  readonly alert: AlertDetailView;
  /** `undefined`: not read yet, or the key may not search. */
  readonly endpoint: EndpointView | undefined;
}

/** What the evaluations of the last day saw, with the threshold; a selection leads to its lines. */
export function AlertChart({ alert, endpoint }: AlertChartProps) {
  const shown = useMemo(() => {
    const values = valuesOf(alert);
    return {
      charts: [toChart(alert, serviceNow(alert), endpoint && searchOf(alert, endpoint))],
      ...(endpoint !== undefined && {
        linesOf: (span: Span, search?: string) => linesPath(endpoint, values, { span, search }),
        noLines: whyNoLines(endpoint, values),
      }),
    };
  }, [alert, endpoint]);
  return (
    <Panel title="The last day">
      {alert.chart.points.length === 0 ? (
        <Empty title="No values yet">
          Each evaluation adds the value that it compared; the next one is due soon after the service has
          started.
        </Empty>
      ) : (
        <LinkedCharts {...shown} />
      )}
    </Panel>
  );
}
