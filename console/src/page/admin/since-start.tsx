import type { ReactNode } from 'react';
import type { ApiError } from '../../api/client.ts';
import { formatAgo } from '../../format/time.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time.tsx';

interface SinceStartProps<T> {
  readonly title: string;
  readonly heads: readonly { readonly name: string; readonly numeric?: boolean }[];
  readonly list: { readonly since: string; readonly result: readonly T[] } | undefined;
  readonly error: ApiError | undefined;
  /** What would be here. */
  readonly nothing: string;
  readonly line: (row: T) => ReactNode;
}

/** A table of what this process keeps in memory. */
export function SinceStart<T>({ title, heads, list, error, nothing, line }: SinceStartProps<T>) {
  const nowMs = Date.now();
  if (error !== undefined) return <ErrorNote error={error} />;
  if (list === undefined || list.result.length === 0)
    return (
      <Panel title={title}>
        {list === undefined ? (
          <p className="muted">Reading…</p>
        ) : (
          <Empty title={`Nothing since the start, ${formatAgo(Date.parse(list.since), nowMs)}`}>
            {nothing}
          </Empty>
        )}
      </Panel>
    );
  const below = (
    <p className="admin-below small muted">
      Kept in memory by this process since it started, <Ago iso={list.since} nowMs={nowMs} />.
    </p>
  );
  return (
    <PanelTable title={title} heads={heads} below={below}>
      {list.result.map(line)}
    </PanelTable>
  );
}
