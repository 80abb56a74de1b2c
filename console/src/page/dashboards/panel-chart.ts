import type { PanelView } from '../../../../src/management/dashboard-view.ts';
import { toPanelChart } from '../../../../src/management/panel-view.ts';
import type { ChartView, EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { chartsOf } from '../../ui/chart/guess.ts';

/** How a panel draws an answer: the chart of the endpoint that has its columns, changed as the panel says. */
export function findPanelChart(
  endpoint: EndpointView,
  panel: Pick<PanelView, 'show' | 'title' | 'columns' | 'unit'>,
  rows: readonly Row[],
): ChartView {
  return toPanelChart(chartsOf(endpoint, rows), panel);
}
