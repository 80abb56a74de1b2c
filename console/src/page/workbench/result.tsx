import { type ReactNode, Suspense, useMemo, useState } from 'react';
import { latestOf, type Run } from '../../api/queries.ts';
import { formatBytes, formatMs, formatRows } from '../../format/number.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { findAnswerRange } from '../../ui/chart/answer-range.ts';
import type { View } from '../../ui/chart/drawings.tsx';
import { chartsOf, findTimes } from '../../ui/chart/guess.ts';
import { ErrorNote } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tag } from '../../ui/tag.tsx';
import type { Answered } from './use-check.ts';

// Charts, tables and colours of code are loaded with the first result.
const Views = lazyPart(async () => (await import('../../ui/chart/drawings.tsx')).AnswerViews);

interface ResultProps {
  readonly answer: Run<Answered>;
  /** Descriptions of columns by name, which say the unit of a chart. */
  readonly descriptions: ReadonlyMap<string, string>;
  /** What can be done with the rows. */
  readonly actions: ReactNode;
}

/** The rows of the last run. */
export function Result({ answer, descriptions, actions }: ResultProps) {
  const [view, setView] = useState<View>();
  const value = latestOf(answer);
  const drawn = useMemo(() => {
    if (value === undefined) return undefined;
    const columns = value.columns.map((one) => ({
      ...one,
      description: descriptions.get(one.name) ?? '',
      search: null,
    }));
    const shape = { columns, charts: value.charts };
    const range = findAnswerRange(value, value.values, Date.parse(value.now));
    return { ...shape, charts: chartsOf(shape, value.result), times: findTimes(shape, value.result), range };
  }, [value, descriptions]);
  const meta =
    answer.state === 'done' ? (
      <>
        <Meta value={answer.value} />
        {actions}
      </>
    ) : undefined;
  return (
    <Panel title="Result" actions={meta}>
      <div role="status" className="visually-hidden">
        {answer.state === 'running'
          ? 'Running'
          : answer.state === 'done'
            ? formatRows(answer.value.result.length)
            : ''}
      </div>
      {value === undefined || drawn === undefined ? (
        <Missing work={answer} />
      ) : (
        <div className={answer.state === 'running' ? 'bench-answer is-busy' : 'bench-answer'}>
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <Views rows={value.result} {...{ drawn, view }} onView={setView} />
          </Suspense>
        </div>
      )}
    </Panel>
  );
}

function Meta({ value }: { readonly value: Answered }) {
  const { result, rows_read: rows, bytes_read: bytes, engine_ms: engineMs, truncated, ms } = value;
  return (
    <ul className="meta small number" aria-label="About this result">
      {truncated && (
        <li>
          <Tag tone="warn">cut at max_rows</Tag>
        </li>
      )}
      <li>{formatRows(result.length)}</li>
      <li>{formatRows(rows)} read</li>
      <li>{formatBytes(bytes)} read</li>
      <li>{formatMs(engineMs)} in the engine</li>
      <li>{formatMs(ms)} in all</li>
    </ul>
  );
}

/** Says why there are no rows. */
function Missing({ work }: { readonly work: Run<Answered> }) {
  if (work.state !== 'failed') {
    const text = { idle: 'Press Run.', stopped: 'Stopped.', running: 'Running…', done: '' }[work.state];
    return <p className="muted">{text}</p>;
  }
  if (work.error.code !== 'invalid_definition') return <ErrorNote error={work.error} />;
  return <p role="alert">Not run: the files have the faults above.</p>;
}
