import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { maySearch } from '../../api/right.ts';
import { useOverview } from '../../api/use-overview.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { EndpointList } from './endpoint-list.tsx';
import { EndpointTraffic } from './endpoint-traffic.tsx';
import './overview.css';
import { EngineState } from './engine-state.tsx';
import { ErrorList } from './error-list.tsx';
import { Headline } from './headline.tsx';
import { NoticeBanner } from './notice-banner.tsx';
import { SourceList } from './source-list.tsx';

/** The state of the service: live numbers for keys with `manage`, otherwise the endpoints of the key. */
export function OverviewPage() {
  const { self } = useClient();
  const mayWatch = self.scopes.includes('manage');
  const hasErrors = maySearch(self);
  const live = useOverview();
  const endpoints = useRead(queries.endpoints);
  const { value: overview } = live;
  const described = endpoints.value?.result ?? [];
  return (
    <>
      <div className="page-head">
        <h1>Overview</h1>
        <p>
          {mayWatch
            ? 'Traffic of endpoints and sources over the last hour, at most since the service started.'
            : 'The endpoints that this key may read. Live numbers need the scope manage.'}
        </p>
      </div>
      {live.error !== undefined && <ErrorNote error={live.error} />}
      {endpoints.error !== undefined && <ErrorNote error={endpoints.error} />}
      {mayWatch && overview === undefined && live.error === undefined && <p className="muted">Reading…</p>}
      {overview !== undefined && (
        <>
          <NoticeBanner notices={overview.notices} />
          <Headline overview={overview} />
          {hasErrors && <ErrorList />}
          <div className="overview-parts">
            <EndpointTraffic overview={overview} endpoints={described} />
            <SourceList overview={overview} />
          </div>
          <EngineState overview={overview} />
        </>
      )}
      {!mayWatch && hasErrors && <ErrorList />}
      {!mayWatch && endpoints.value !== undefined && <EndpointList endpoints={described} />}
    </>
  );
}
