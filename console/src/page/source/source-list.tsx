import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { SourceState } from '../../../../src/management/admin-view.ts';
import type { SourceView } from '../../../../src/management/view.ts';
import { formatBytes, formatCount, formatShort } from '../../format/show.ts';
import { PageHead } from '../../ui/page-part.tsx';
import { numeric, RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { explorePath } from '../explore/address.ts';
import './source.css';
import { maySearch, useClient, useSources } from '../../api/queries.ts';

interface Row {
  readonly source: SourceView;
  /** `undefined`: not read yet, or not shown to this key. */
  readonly state: SourceState | undefined;
}

const ABOUT: TableColumns<Row> = {
  Source: ({ source: { name, description }, state }) => (
    <div className="panel-table-name">
      <Link href={`/sources/${name}`}>{name}</Link>
      <span className="small muted">{description}</span>
      {state !== undefined && state.without_project > 0 && (
        <span className="small tone-warn">
          {formatCount(state.without_project)} events without a project since the start
        </span>
      )}
    </div>
  ),
  Table: styled('source-summary-table', ({ source }) => <code className="small">{source.table}</code>),
  Fields: numeric(({ source }) => source.columns.length),
  Kept: numeric(({ source: { retention_days: days } }) => (days === null ? 'external' : `${days} d`)),
};

function liveAt(nowMs: number): TableColumns<Row> {
  const cellOf = (show: (state: SourceState) => ReactNode) => (row: Row) =>
    row.state === undefined || !row.source.managed ? '–' : show(row.state);
  return {
    'Events/s': numeric(cellOf((state) => formatShort(state.events_per_second))),
    Rows: numeric(cellOf(({ rows }) => formatShort(rows))),
    'On disk': numeric(cellOf(({ bytes }) => formatBytes(bytes))),
    Newest: cellOf(({ newest }) => <Ago iso={newest} nowMs={nowMs} />),
  };
}

const LINES: TableColumns<Row> = {
  Lines: styled('source-summary-lines', ({ source: { name } }) => (
    <Link href={explorePath({ source: [name] })} className="small">
      Explore<span className="visually-hidden"> {name}</span>
    </Link>
  )),
};

export default function SourceListPage() {
  const { sources, stateOf, mayWatch, nowMs, error } = useSources();
  const hasLines = maySearch(useClient().self);
  return (
    <>
      <PageHead title="Sources">
        Kinds of logs that you can send here, each with its fields, retention and ready-made configurations of
        senders.
      </PageHead>
      <RowTable
        title="Sources"
        rowClass="source-summary"
        error={error}
        empty={[
          'This key may see no source',
          'Sign in with a key that may send to sources, or has the scope manage.',
        ]}
        rows={sources?.map((source) => ({ source, state: stateOf(source.name) }))}
        keyOf={({ source }) => source.id}
        columns={{ ...ABOUT, ...(mayWatch && liveAt(nowMs)), ...(hasLines && LINES) }}
      />
    </>
  );
}
