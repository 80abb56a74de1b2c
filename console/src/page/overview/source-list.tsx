import { Link } from 'wouter';
import type { Overview } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { maySearch } from '../../api/right.ts';
import { formatBytes, formatCount, formatShort } from '../../format/number.ts';
import { isOwnSource } from '../../format/own.ts';
import { Empty } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { ExploreLink } from '../explore/explore-link.tsx';

type Source = Overview['sources'][number];

const LINES: TableColumn<Source> = {
  name: 'Lines',
  className: 'overview-lines',
  cell: ({ name }) => <ExploreLink source={name} />,
};

/** @param most bytes of the largest source */
function columnsAt(nowMs: number, most: number): readonly TableColumn<Source>[] {
  const ago = (iso: string | null) => (iso === null ? '–' : <Ago iso={iso} nowMs={nowMs} />);
  return [
    {
      name: 'Source',
      cell: ({ name, table }) => (
        <div className="panel-table-name">
          <Link href={`/sources/${name}`}>{name}</Link>
          <span className="small muted">
            table <code>{table}</code>
          </span>
        </div>
      ),
    },
    {
      name: 'Events in, last hour',
      className: 'overview-trend',
      cell: ({ minutes }) => (
        <Sparkline
          values={minutes}
          label={`${formatCount(minutes.reduce((sum, one) => sum + one, 0))} events in the last hour`}
        />
      ),
    },
    { name: 'Per second', label: '/s', numeric: true, cell: (one) => formatShort(one.events_per_second) },
    { name: 'Rows', numeric: true, cell: ({ rows }) => formatShort(rows) },
    {
      name: 'On disk',
      numeric: true,
      cell: ({ bytes }) => (
        <span className="overview-size">
          {formatBytes(bytes)}
          <span className="overview-meter" aria-hidden="true">
            <span style={{ width: `${(100 * bytes) / most}%` }} />
          </span>
        </span>
      ),
    },
    { name: 'Oldest', className: 'overview-oldest', cell: ({ oldest }) => ago(oldest) },
    { name: 'Newest', cell: ({ newest }) => ago(newest) },
  ];
}

/** A line per source: events received and stored. */
export function SourceList({ overview }: { readonly overview: Overview }) {
  const { at } = overview;
  const sources = overview.sources.filter(({ name }) => !isOwnSource(name));
  const hasLines = maySearch(useClient().self);
  const nowMs = Date.parse(at);
  if (sources.length === 0) {
    return (
      <Panel title="Sources">
        <Empty title="This key may see no source">
          Sign in with a key that may send to sources, or has the scope manage.
        </Empty>
      </Panel>
    );
  }
  const most = Math.max(1, ...sources.map((one) => one.bytes));
  return (
    <RowTable
      title="Sources"
      rowClass="source-line"
      rows={sources}
      keyOf={({ name }) => name}
      columns={[...columnsAt(nowMs, most), ...(hasLines ? [LINES] : [])]}
    />
  );
}
