import { Link } from 'wouter';
import type { Notice, Overview, Traffic } from '../../../../src/management/admin-view.ts';
import type { AlertView } from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { maySearch, queries, useClient, useFiring, useOverview, useRead } from '../../api/queries.ts';
import {
  formatBytes,
  formatCount,
  formatMs,
  formatPercent,
  formatSeconds,
  formatShort,
} from '../../format/show.ts';
import { Empty, ErrorNote, PageHead, Panel, Reading, Stat } from '../../ui/page-part.tsx';
import { numeric, RowTable, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import './overview.css';
import { EndpointTraffic } from './endpoint-traffic.tsx';
import { SourceTraffic } from './source-traffic.tsx';

const NOTICES: Readonly<Record<Notice['topic'], string>> = {
  retention: 'Retention has stopped',
  roles: 'People have no access',
  storing: 'Nothing can be stored',
  alerts: 'Alerts are not evaluated',
};

export default function OverviewPage() {
  const { self } = useClient();
  const mayWatch = self.scopes.includes('manage');
  const live = useOverview();
  const firing = useFiring();
  const endpoints = useRead(queries.endpoints);
  const { value: overview } = live;
  const described = endpoints.value?.result ?? [];
  const isReady = !mayWatch || overview !== undefined;
  return (
    <>
      <PageHead title="Overview">
        {mayWatch
          ? 'Traffic of endpoints and sources over the last hour, at most since the service started.'
          : 'The endpoints that this key may read. Live numbers need the scope manage.'}
      </PageHead>
      {(!isReady || live.error !== undefined) && <Reading error={live.error} />}
      {endpoints.error !== undefined && <ErrorNote error={endpoints.error} />}
      {overview?.notices.map(({ topic, message }) => (
        <div key={topic} className="note is-bad" role="alert">
          <strong>{NOTICES[topic]}</strong>
          <span>{message}</span>
        </div>
      ))}
      {overview !== undefined && <Headline overview={overview} />}
      {isReady && firing.length > 0 && (
        <RowTable title="Firing alerts" rows={firing} keyOf={({ id }) => id} columns={FIRING_COLUMNS} />
      )}
      {isReady && maySearch(self) && <SourceTraffic />}
      {overview !== undefined && <EndpointTraffic overview={overview} endpoints={described} />}
      {overview !== undefined && <EngineState overview={overview} />}
      {!mayWatch && endpoints.value !== undefined && <EndpointList endpoints={described} />}
    </>
  );
}

const FIRING_COLUMNS: TableColumns<AlertView> = {
  Alert: ({ name }) => <Link href={`/alerts/${name}`}>{name}</Link>,
  Severity: ({ severity }) => severity,
  Instances: numeric(({ instances }) => instances.length),
  Since: ({ since }) => <Ago iso={since} />,
};

function EndpointList({ endpoints }: { readonly endpoints: readonly EndpointView[] }) {
  return (
    <Panel title="Endpoints">
      {endpoints.length === 0 ? (
        <Empty title="This key may read no endpoint">
          Sign in with a key that may read endpoints, or ask for one.
        </Empty>
      ) : (
        <ul className="endpoint-list">
          {endpoints.map(({ name, description }) => (
            <li key={name}>
              <Link href={`/endpoints/${name}`}>{name}</Link>
              <span className="muted">{description}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function EngineState({ overview }: { readonly overview: Overview }) {
  const { engine, store, started_at: startedAt, at } = overview;
  return (
    <Panel title="Engine and store">
      <dl className="overview-facts">
        <Stat
          label="Readers busy"
          value={`${engine.running} of ${engine.readers}`}
          below={<Meter share={engine.running / engine.readers} />}
        />
        <Stat label="Queries waiting" value={formatCount(engine.queued)} />
        <Stat
          label="Cache"
          value={`${formatBytes(store.cache_bytes)} of ${formatBytes(store.cache_bytes_max)}`}
          below={<Meter share={store.cache_bytes / store.cache_bytes_max} />}
        />
        <Stat label="Ingest backlog" value={formatBytes(store.ingest_queued_bytes)} />
        <Stat label="Stored" value={`${formatCount(store.rows)} events, ${formatBytes(store.bytes)}`} />
        {engine.memory_bytes !== null && (
          <Stat label="Engine memory" value={formatBytes(engine.memory_bytes)} />
        )}
        <Stat label="Engine restarts" value={formatCount(engine.restarts)} />
        <Stat label="Running since" value={<Ago iso={startedAt} nowMs={Date.parse(at)} />} />
      </dl>
    </Panel>
  );
}

function Meter({ share }: { readonly share: number }) {
  return (
    <span className="overview-meter" aria-hidden="true">
      <span style={{ width: `${Math.min(100, share * 100)}%` }} />
    </span>
  );
}

const STATES = { ready: 'Ready', stopping: 'Stopping', unavailable: 'Away' } as const;

function Headline({ overview }: { readonly overview: Overview }) {
  const { sources, engine, store, window_seconds: seconds, search } = overview;
  const endpoints = search === null ? overview.endpoints : [...overview.endpoints, search];
  const total = (of: (one: Traffic) => number) => endpoints.reduce((sum, one) => sum + of(one), 0);
  const requests = total((one) => one.requests);
  const failures = total((one) => one.failures);
  const [slowest] = endpoints.toSorted((a, b) => (b.p99_ms ?? -1) - (a.p99_ms ?? -1));
  const cached = endpoints.filter((one) => one.hit_ratio !== null);
  const cachedRequests = cached.reduce((sum, one) => sum + one.requests, 0);
  const hits = cached.reduce((sum, one) => sum + (one.hit_ratio ?? 0) * one.requests, 0);
  const window = `last ${formatSeconds(Math.max(60, seconds - (seconds % 60)))}`;
  return (
    <dl className="panel stats headline">
      <Stat
        label="Engine"
        value={STATES[engine.state]}
        tone={engine.state === 'ready' ? 'ok' : 'bad'}
        below={engine.message ?? `${engine.running} of ${engine.readers} readers busy`}
      />
      <Stat
        label="Requests"
        value={formatShort(total((one) => one.requests_per_minute))}
        unit="/min"
        below={`${formatCount(requests)} in the ${window}`}
      />
      <Stat
        label="Failed"
        value={formatCount(failures)}
        {...(failures > 0 && { tone: 'bad' as const })}
        below={
          requests === 0 ? `no request in the ${window}` : `${formatPercent(failures / requests)} of requests`
        }
      />
      <Stat
        label="Slowest p99"
        value={slowest?.p99_ms == null ? '–' : formatMs(slowest.p99_ms)}
        below={slowest?.p99_ms == null ? 'no request yet' : slowest.name}
      />
      <Stat
        label="Cache hits"
        value={cachedRequests === 0 ? '–' : formatPercent(hits / cachedRequests)}
        below={`${formatCount(store.cache_entries)} cached answers`}
      />
      <Stat
        label="Events in"
        value={formatShort(sources.reduce((sum, one) => sum + one.events_per_second, 0))}
        unit="/s"
        below={`${formatShort(store.rows)} stored, ${formatBytes(store.bytes)}`}
      />
    </dl>
  );
}
