import { type ReactNode, Suspense, useMemo, useState } from 'react';
import { latestOf, type Run } from '../../api/queries.ts';
import { formatBytes, formatMs, formatRows } from '../../format/number.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import type { View } from '../../ui/chart/drawings.tsx';
import { toDrawable } from '../../ui/chart/guess.ts';
import { ErrorNote } from '../../ui/note.tsx';
import { Tag } from '../../ui/tag.tsx';
import { RunPanel } from '../endpoint/run-panel.tsx';
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
    const { values, result: rows, now } = value;
    return toDrawable({ ...value, columns }, { values, rows, atMs: Date.parse(now) });
  }, [value, descriptions]);
  return (
    <RunPanel
      title="Result"
      run={answer}
      rowsOf={({ result }) => result}
      factsOf={(one) => [
        one.truncated && <Tag tone="warn">cut at max_rows</Tag>,
        formatRows(one.result.length),
        `${formatRows(one.rows_read)} read`,
        `${formatBytes(one.bytes_read)} read`,
        `${formatMs(one.engine_ms)} in the engine`,
        `${formatMs(one.ms)} in all`,
      ]}
      actions={actions}
      idle={<p className="muted">Press Run.</p>}
      failed={(error) =>
        error.code === 'invalid_definition' ? (
          <p role="alert">Not run: the files have the faults above.</p>
        ) : (
          <ErrorNote error={error} />
        )
      }
    >
      {({ result }) =>
        drawn && (
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <Views rows={result} {...{ drawn, view }} onView={setView} />
          </Suspense>
        )
      }
    </RunPanel>
  );
}
