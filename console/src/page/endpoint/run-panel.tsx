import type { ReactNode } from 'react';
import type { Row } from '../../api/answer.ts';
import type { ApiError } from '../../api/client.ts';
import type { Run } from '../../api/queries.ts';
import { formatRows } from '../../format/show.ts';
import { ErrorNote, Panel } from '../../ui/page-part.tsx';

interface WithRows {
  readonly rows: readonly Row[];
}

interface RunPanelProps<T extends WithRows> {
  readonly title: string;
  readonly run: Run<T>;
  /** Facts about an answer; `false` leaves one out. */
  readonly factsOf: (value: T) => readonly ReactNode[];
  readonly actions?: ReactNode;
  readonly idle: ReactNode;
  /** If not the error. */
  readonly failed?: (error: ApiError) => ReactNode;
  readonly children: (value: T) => ReactNode;
}

/** What a run of a query returned. The answer before stays, faded, while the next one is computed. */
export function RunPanel<T extends WithRows>(props: RunPanelProps<T>) {
  const { title, run, factsOf, actions, idle, failed, children } = props;
  const { value, error } = run;
  const isRunning = run.state === 'running';
  const facts = run.state === 'done' && (
    <>
      <ul className="row meta small number" aria-label={`About this ${title.toLowerCase()}`}>
        {factsOf(run.value).map(
          // biome-ignore lint/suspicious/noArrayIndexKey: a fact has no other identity
          (fact, i) => fact !== false && <li key={i}>{fact}</li>,
        )}
      </ul>
      {actions}
    </>
  );
  return (
    <Panel title={title} actions={facts}>
      <div role="status" className="visually-hidden">
        {isRunning ? 'Running' : run.state === 'done' ? formatRows(run.value.rows.length) : ''}
      </div>
      {error !== undefined && (failed?.(error) || <ErrorNote error={error} />)}
      {run.state === 'idle' && idle}
      {run.state === 'stopped' && <p className="muted">Stopped.</p>}
      {isRunning && value === undefined && <p className="muted">Running…</p>}
      {value !== undefined && (
        <div className={isRunning ? 'answer stack is-busy' : 'answer stack'}>{children(value)}</div>
      )}
    </Panel>
  );
}
