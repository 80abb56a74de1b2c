import { Link } from 'wouter';
import type { EndpointView, Overview, Traffic } from '../../../../src/management/view.ts';
import { formatCount, formatMs, formatPercent, formatShort } from '../../format/number.ts';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time.tsx';

interface Props {
  readonly overview: Overview;
  readonly endpoints: readonly EndpointView[];
}

/** A line per endpoint: requests, latency and errors. */
export function EndpointTraffic({ overview, endpoints }: Props) {
  const { search } = overview;
  const nowMs = Date.parse(overview.at);
  if (overview.endpoints.length === 0 && search === null) {
    return (
      <Panel title="Endpoints">
        <Empty title="There are no endpoints">
          Put endpoint.yaml and query.sql into a folder of TAILRACE_ENDPOINTS_DIR and run tailrace reload.
        </Empty>
      </Panel>
    );
  }
  return (
    <PanelTable title="Endpoints" heads={HEADS}>
      {overview.endpoints.map((traffic) => (
        <Line
          key={traffic.name}
          traffic={traffic}
          endpoint={endpoints.find((one) => one.name === traffic.name)}
          nowMs={nowMs}
        />
      ))}
      {search !== null && <Line traffic={search} endpoint={SEARCH} nowMs={nowMs} />}
    </PanelTable>
  );
}

interface Described extends Pick<EndpointView, 'description' | 'caching_seconds'> {
  /** The link and the shown name of a line that is not an endpoint. */
  readonly href?: string;
  readonly label?: string;
}

const SEARCH: Described = {
  href: '/explore',
  label: 'Search',
  description: 'Searches of events',
  caching_seconds: null,
};

const HEADS = [
  { name: 'Endpoint' },
  { name: 'Requests, last hour' },
  { name: 'Per minute', numeric: true },
  { name: 'p50', numeric: true },
  { name: 'p99', numeric: true },
  { name: 'Cache hits', numeric: true },
  { name: 'Rows', numeric: true },
  { name: 'Failed', numeric: true },
];

interface LineProps {
  readonly traffic: Traffic;
  readonly endpoint: Described | undefined;
  readonly nowMs: number;
}

function Line({ traffic, endpoint, nowMs }: LineProps) {
  const { name, requests, failures, p50_ms, p99_ms, hit_ratio, last_failure, minutes } = traffic;
  const codes = Object.entries(traffic.failure_codes).map(([code, count]) => `${count} ${code}`);
  return (
    <tr className="traffic-line">
      <th scope="row">
        <div className="panel-table-name">
          <Link href={endpoint?.href ?? `/endpoints/${name}`}>{endpoint?.label ?? name}</Link>
          <span className="small muted">{endpoint?.description}</span>
        </div>
      </th>
      <td data-label="Requests, last hour" className="overview-trend">
        <Sparkline
          values={minutes.map((one) => one.requests)}
          label={`${formatCount(requests)} requests in the last hour`}
        />
      </td>
      <td data-label="Per minute" className="numeric">
        {formatShort(traffic.requests_per_minute)}
      </td>
      <td data-label="p50" className="numeric">
        {p50_ms === null ? '–' : formatMs(p50_ms)}
      </td>
      <td data-label="p99" className="numeric">
        {p99_ms === null ? '–' : formatMs(p99_ms)}
      </td>
      <td data-label="Cache hits" className="numeric">
        {endpoint?.caching_seconds === null ? (
          <span className="muted">not cached</span>
        ) : hit_ratio === null ? (
          '–'
        ) : (
          formatPercent(hit_ratio)
        )}
      </td>
      <td data-label="Rows" className="numeric">
        {formatShort(traffic.rows)}
      </td>
      <td data-label="Failed" className="numeric" title={codes.join(', ')}>
        <span className="overview-failures">
          <span className={failures > 0 ? 'tone-bad' : ''}>{formatCount(failures)}</span>
          {last_failure !== null && (
            <>
              <Tag tone="bad">{last_failure.code}</Tag>
              <span className="small muted">
                <Ago iso={last_failure.at} nowMs={nowMs} />
              </span>
            </>
          )}
        </span>
      </td>
    </tr>
  );
}
