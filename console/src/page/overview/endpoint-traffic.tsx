import { Link } from 'wouter';
import type { Overview, Traffic } from '../../../../src/management/admin-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatCount, formatMs, formatPercent, formatShort } from '../../format/show.ts';
import { Tag } from '../../ui/page-part.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { numeric, RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';

export function EndpointTraffic(props: { overview: Overview; endpoints: readonly EndpointView[] }) {
  const { overview, endpoints } = props;
  const { search } = overview;
  const nowMs = Date.parse(overview.at);
  return (
    <RowTable
      title="Endpoints"
      rowClass="traffic-line"
      empty={['There are no endpoints', NO_ENDPOINTS]}
      rows={[
        ...overview.endpoints.map((traffic) => ({
          traffic,
          endpoint: endpoints.find((one) => one.name === traffic.name),
        })),
        ...(search === null ? [] : [{ traffic: search, endpoint: SEARCH }]),
      ]}
      columns={{ ...COLUMNS, Failed: numeric(({ traffic }: Line) => <Failures {...{ traffic, nowMs }} />) }}
      keyOf={({ endpoint, traffic }) => endpoint?.name ?? traffic.name}
    />
  );
}

const NO_ENDPOINTS =
  'Put endpoint.yaml and query.sql into a folder of TAILRACE_ENDPOINTS_DIR and run tailrace reload.';

interface Described extends Pick<EndpointView, 'description' | 'caching_seconds'> {
  /** The address of a line that is not an endpoint. */
  readonly href?: string;
  readonly name: string;
}

const SEARCH: Described = {
  href: '/explore',
  name: 'Search',
  description: 'Searches of events',
  caching_seconds: null,
};

interface Line {
  readonly traffic: Traffic;
  readonly endpoint: Described | undefined;
}

const COLUMNS: TableColumns<Line> = {
  Endpoint: ({ endpoint, traffic: { name } }) => (
    <div className="panel-table-name">
      <Link href={endpoint?.href ?? `/endpoints/${name}`}>{endpoint?.name ?? name}</Link>
      <span className="small muted">{endpoint?.description}</span>
    </div>
  ),
  'Requests, last hour': styled('overview-trend', ({ traffic: { minutes, requests } }) => (
    <Sparkline
      values={minutes.map((one) => one.requests)}
      label={`${formatCount(requests)} requests in the last hour`}
    />
  )),
  'Per minute': numeric(({ traffic }) => formatShort(traffic.requests_per_minute)),
  p50: numeric(({ traffic }) => orDash(traffic.p50_ms, formatMs)),
  p99: numeric(({ traffic }) => orDash(traffic.p99_ms, formatMs)),
  'Cache hits': numeric(({ endpoint, traffic }) =>
    endpoint?.caching_seconds === null ? (
      <span className="muted">not cached</span>
    ) : (
      orDash(traffic.hit_ratio, formatPercent)
    ),
  ),
  Rows: numeric(({ traffic }) => formatShort(traffic.rows)),
};

function orDash(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}

function Failures({ traffic, nowMs }: { readonly traffic: Traffic; readonly nowMs: number }) {
  const { failures, failure_codes: codes, last_failure: last } = traffic;
  const text = Object.entries(codes).map(([code, count]) => `${count} ${code}`);
  return (
    <span className="overview-failures" title={text.join(', ')}>
      <span className={failures > 0 ? 'tone-bad' : ''}>{formatCount(failures)}</span>
      {last !== null && (
        <>
          <Tag tone="bad">{last.code}</Tag>
          <span className="small muted">
            <Ago iso={last.at} nowMs={nowMs} />
          </span>
        </>
      )}
    </span>
  );
}
