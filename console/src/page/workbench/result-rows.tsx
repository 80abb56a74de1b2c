import { useMemo } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson } from '../../api/answer.ts';
import { useZone } from '../../preference.ts';
import type { AnswerRange } from '../../ui/chart/answer-range.ts';
import { toDrawing } from '../../ui/chart/draw.ts';
import { Drawings } from '../../ui/chart/drawings.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/note.tsx';
import { DataTable, toColumns } from '../../ui/table/data-table.tsx';
import type { Answered } from './api.ts';
import type { ResultView } from './result.tsx';

interface RowsProps {
  readonly view: ResultView;
  readonly rows: Answered['result'];
  readonly drawn: Pick<EndpointView, 'columns' | 'charts'> & {
    readonly times: ReadonlySet<string>;
    readonly range: AnswerRange;
  };
}

/** The rows of a result as charts, a table or JSON. */
export function ResultRows({ view, rows, drawn }: RowsProps) {
  const zone = useZone();
  const { columns, charts, times, range } = drawn;
  const shown = useMemo(() => toColumns(columns, { zone, times }), [columns, zone, times]);
  const drawings = useMemo(
    () => (view === 'chart' ? charts.map((chart) => toDrawing(chart, { columns, rows, range })) : []),
    [view, columns, charts, rows, range],
  );
  if (view === 'json') return <Code text={formatJson(rows)} label="The rows as JSON" />;
  if (rows.length === 0) {
    return (
      <Empty title="No rows">No rows match these values. Check the project, or read a longer range.</Empty>
    );
  }
  if (view === 'table') return <DataTable caption="Rows of the result" rows={rows} columns={shown} />;
  return <Drawings drawings={drawings} rows={rows} times={times} />;
}
