import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { SourceState } from '../../../../src/management/admin-view.ts';
import type { SourceView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { maySearch } from '../../api/right.ts';
import { formatBytes, formatCount, formatShort } from '../../format/number.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { explorePath } from '../explore/address.ts';
import './source.css';
import { useSources } from '../../api/queries.ts';

interface Row {
  readonly source: SourceView;
  /** `undefined`: not read yet, or not shown to this key. */
  readonly state: SourceState | undefined;
}

const ABOUT: readonly TableColumn<Row>[] = [
  {
    name: 'Source',
    cell: ({ source: { name, description }, state }) => (
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
  },
  {
    name: 'Table',
    className: 'source-summary-table',
    cell: ({ source }) => <code className="small">{source.table}</code>,
  },
  { name: 'Fields', numeric: true, cell: ({ source }) => source.columns.length },
  {
    name: 'Kept',
    numeric: true,
    cell: ({ source: { retention_days: days } }) => (days === null ? 'external' : `${days} d`),
  },
];

function liveAt(nowMs: number): readonly TableColumn<Row>[] {
  const cellOf = (show: (state: SourceState) => ReactNode) => (row: Row) =>
    row.state === undefined || !row.source.managed ? '–' : show(row.state);
  return [
    { name: 'Events/s', numeric: true, cell: cellOf((state) => formatShort(state.events_per_second)) },
    { name: 'Rows', numeric: true, cell: cellOf(({ rows }) => formatShort(rows)) },
    { name: 'On disk', numeric: true, cell: cellOf(({ bytes }) => formatBytes(bytes)) },
    { name: 'Newest', cell: cellOf(({ newest }) => <Ago iso={newest} nowMs={nowMs} />) },
  ];
}

const LINES: TableColumn<Row> = {
  name: 'Lines',
  className: 'source-summary-lines',
  cell: ({ source: { name } }) => (
    <Link href={explorePath({ source: [name] })} className="small">
      Explore<span className="visually-hidden"> {name}</span>
    </Link>
  ),
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
        columns={[...ABOUT, ...(mayWatch ? liveAt(nowMs) : []), ...(hasLines ? [LINES] : [])]}
      />
    </>
  );
}
