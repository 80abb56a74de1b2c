import { type ReactNode, useMemo } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson } from '../../api/answer.ts';
import { latestOf, type Run } from '../../api/use-run.ts';
import { formatBytes, formatCount, formatMs } from '../../format/number.ts';
import { useZone } from '../../preference.ts';
import { LinkedCharts } from '../../ui/chart/linked-charts.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Tag } from '../../ui/tag.tsx';
import { hasOneRowPerTime, isDrawable, toCharts } from '../endpoint/shape.ts';
import { toColumns } from '../endpoint/table-columns.tsx';
import type { Answered } from './api.ts';

export type ResultView = 'chart' | 'table' | 'json' | 'plan';

interface ResultProps {
  readonly answer: Run<Answered>;
  readonly plan: Run<{ readonly plan: string }>;
  /** Descriptions of columns by name, which say the unit of a chart. */
  readonly descriptions: ReadonlyMap<string, string>;
  readonly view: ResultView;
  readonly onView: (view: ResultView) => void;
}

/** The rows of the last run, and the engine's plan. */
export function Result({ answer, plan, descriptions, view, onView }: ResultProps) {
  const value = latestOf(answer);
  const columns = useMemo(
    () =>
      value?.columns.map((one) => ({
        ...one,
        description: descriptions.get(one.name) ?? '',
        search: null,
      })) ?? [],
    [value, descriptions],
  );
  const hasChart = value === undefined || (isDrawable(columns) && hasOneRowPerTime(columns, value.result));
  const tabs = hasChart ? TABS : TABS.filter(({ id }) => id !== 'chart');
  const shown = hasChart || view !== 'chart' ? view : 'table';
  const meta = answer.state === 'done' ? <Meta value={answer.value} /> : undefined;
  return (
    <Panel title="Result" actions={meta}>
      <div role="status" className="visually-hidden">
        {answer.state === 'running'
          ? 'Running'
          : answer.state === 'done'
            ? `${answer.value.result.length} rows`
            : ''}
      </div>
      <Tabs label="View" tabs={tabs} selected={shown} onSelect={onView}>
        {shown === 'plan' ? (
          <Shown work={plan} idle="Reading the plan…">
            {({ plan: text }) => <Code text={text} label="The engine’s plan" />}
          </Shown>
        ) : (
          <Shown work={answer} idle="Press Run.">
            {({ result }) => <Rows view={shown} rows={result} columns={columns} />}
          </Shown>
        )}
      </Tabs>
    </Panel>
  );
}

const TABS: readonly { readonly id: ResultView; readonly label: string }[] = [
  { id: 'chart', label: 'Chart' },
  { id: 'table', label: 'Table' },
  { id: 'json', label: 'JSON' },
  { id: 'plan', label: 'Plan' },
];

function Meta({ value }: { readonly value: Answered }) {
  const { result, rows_read: rows, bytes_read: bytes, engine_ms: engineMs, truncated, ms } = value;
  return (
    <ul className="bench-meta small number" aria-label="About this result">
      {truncated && (
        <li>
          <Tag tone="warn">cut at max_rows</Tag>
        </li>
      )}
      <li>
        {formatCount(result.length)} {result.length === 1 ? 'row' : 'rows'}
      </li>
      <li>{formatCount(rows)} rows read</li>
      <li>{formatBytes(bytes)} read</li>
      <li>{formatMs(engineMs)} in the engine</li>
      <li>{formatMs(ms)} in all</li>
    </ul>
  );
}

interface ShownProps<T> {
  readonly work: Run<T>;
  readonly idle: string;
  readonly children: (value: T) => ReactNode;
}

/** Shows a run: its value, the previous one while it is running, or why there is none. */
function Shown<T>({ work, idle, children }: ShownProps<T>) {
  const value = latestOf(work);
  if (work.state === 'failed' && work.error.code === 'invalid_definition') {
    return <p role="alert">Not run: the files have the faults above.</p>;
  }
  if (work.state === 'failed') return <ErrorNote error={work.error} />;
  if (value === undefined) {
    const text = { idle, stopped: 'Stopped.', running: 'Running…', done: '' }[work.state];
    return <p className="muted bench-idle">{text}</p>;
  }
  return (
    <div className={work.state === 'running' ? 'bench-answer busy' : 'bench-answer'}>{children(value)}</div>
  );
}

interface RowsProps {
  readonly view: Exclude<ResultView, 'plan'>;
  readonly rows: Answered['result'];
  readonly columns: EndpointView['columns'];
}

function Rows({ view, rows, columns }: RowsProps) {
  const zone = useZone();
  const shown = useMemo(() => toColumns(columns, zone), [columns, zone]);
  const charts = useMemo(() => (view === 'chart' ? toCharts(columns, rows) : []), [view, columns, rows]);
  if (view === 'json') return <Code text={formatJson(rows)} label="The rows as JSON" />;
  if (rows.length === 0) {
    return (
      <Empty title="No rows">No rows match these values. Check the project, or read a longer range.</Empty>
    );
  }
  if (view === 'table') return <DataTable caption="Rows of the result" rows={rows} columns={shown} />;
  return <LinkedCharts charts={charts} />;
}
