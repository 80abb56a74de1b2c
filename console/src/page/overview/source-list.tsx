import { Link } from 'wouter';
import type { Overview } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { maySearch } from '../../api/right.ts';
import { formatBytes, formatCount, formatShort } from '../../format/number.ts';
import { isOwnSource } from '../../format/own-source.ts';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { ExploreLink } from '../explore/explore-link.tsx';

const HEADS = [
  { name: 'Source' },
  { name: 'Events in, last hour' },
  { name: 'Per second', numeric: true },
  { name: 'Rows', numeric: true },
  { name: 'On disk', numeric: true },
  { name: 'Oldest' },
  { name: 'Newest' },
];

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
    <PanelTable title="Sources" heads={hasLines ? [...HEADS, { name: 'Lines' }] : HEADS}>
      {sources.map((source) => (
        <tr key={source.name} className="source-line">
          <th scope="row">
            <div className="panel-table-name">
              <Link href={`/sources/${source.name}`}>{source.name}</Link>
              <span className="small muted">
                table <code>{source.table}</code>
              </span>
            </div>
          </th>
          <td data-label="Events in, last hour" className="overview-trend">
            <Sparkline
              values={source.minutes}
              label={`${formatCount(source.minutes.reduce((sum, one) => sum + one, 0))} events in the last hour`}
            />
          </td>
          <td data-label="/s" className="numeric">
            {formatShort(source.events_per_second)}
          </td>
          <td data-label="Rows" className="numeric">
            {formatShort(source.rows)}
          </td>
          <td data-label="On disk" className="numeric">
            <span className="overview-size">
              {formatBytes(source.bytes)}
              <span className="overview-meter" aria-hidden="true">
                <span style={{ width: `${(100 * source.bytes) / most}%` }} />
              </span>
            </span>
          </td>
          <td data-label="Oldest" className="overview-oldest">
            {source.oldest === null ? '–' : <Ago iso={source.oldest} nowMs={nowMs} />}
          </td>
          <td data-label="Newest">
            {source.newest === null ? '–' : <Ago iso={source.newest} nowMs={nowMs} />}
          </td>
          {hasLines && (
            <td data-label="Lines" className="overview-lines">
              <ExploreLink source={source.name} />
            </td>
          )}
        </tr>
      ))}
    </PanelTable>
  );
}
