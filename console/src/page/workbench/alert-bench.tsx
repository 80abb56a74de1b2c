import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { AlertReplayView } from '../../../../src/management/alert-view.ts';
import type { SavedEndpoint } from '../../../../src/management/workbench-view.ts';
import { pause } from '../../api/follow.ts';
import { queries, useClient, useRead, useRun } from '../../api/queries.ts';
import { formatSeconds } from '../../format/show.ts';
import { Code } from '../../ui/code.tsx';
import { ErrorNote, Reading } from '../../ui/page-part.tsx';
import { newAlert } from './definition.ts';
import { FileText } from './file-text.tsx';
import { parseWorkUrl, readSearchEndpoint } from './path.ts';
import { WorkHead } from './work-head.tsx';

/** The file of an alert: `?name=` opens one; `?endpoint=` and `?search=`, which becomes an endpoint, begin one. */
export default function AlertBenchPage() {
  const url = useSearch();
  const { name, endpoint, search, values } = parseWorkUrl(url);
  const [, navigate] = useLocation();
  const { value: workbench, error: unreadWorkbench } = useRead(queries.workbench);
  const { value: endpoints, error: unreadEndpoints } = useRead(queries.endpoints);
  const { value: alerts, error: unreadAlerts } = useRead(queries.alerts);
  const { value: unsaved, error: unreadSearch } = useRun(
    search === '' ? undefined : ['/api/search/endpoint', search],
    (client, signal) => readSearchEndpoint(client, search, signal),
  );
  const saveEndpoint = useSaveEndpoint(unsaved);
  const unread = [unreadWorkbench, unreadEndpoints, unreadAlerts, unreadSearch];
  const error = unread.find((one) => one !== undefined);
  const isRead = workbench !== undefined && endpoints !== undefined && alerts !== undefined;
  const isReady = isRead && (search === '' || unsaved !== undefined);
  const asked = unsaved ?? endpoints?.result.find((one) => one.name === endpoint);
  return (
    <>
      <WorkHead alert={name} />
      {(!isReady || error !== undefined) && <Reading error={error} />}
      {isReady && (
        <FileText
          key={url}
          kind="alerts"
          name={name}
          draftName={name || url}
          saveBefore={unsaved && saveEndpoint}
          whyNotSaved={workbench.alerts.reason ?? (unsaved ? workbench.reason : null)}
          template={
            name === ''
              ? newAlert(asked, unsaved?.values ?? values, {
                  taken: alerts.result.map((one) => one.name),
                  receivers: workbench.alerts.receivers,
                })
              : undefined
          }
          actions={
            name !== '' && (
              <Link className="small" href={`/alerts/${name}`}>
                Its page
              </Link>
            )
          }
          onSaved={(saved) => name === '' && navigate(`/alerts/${saved}`)}
        >
          {(definition) => (
            <>
              <Past
                definition={definition}
                endpoint={unsaved && { definition: unsaved.definition, sql: unsaved.sql }}
              />
              {unsaved !== undefined && (
                <Code text={unsaved.sql} language="sql" label={`endpoints/${unsaved.name}/query.sql`} />
              )}
            </>
          )}
        </FileText>
      )}
    </>
  );
}

type Unsaved = Awaited<ReturnType<typeof readSearchEndpoint>>;

function useSaveEndpoint(endpoint: Unsaved | undefined): () => Promise<void> {
  const client = useClient();
  const cache = useQueryClient();
  const saved = useRef<Unsaved>(undefined);
  return async () => {
    if (endpoint === undefined || saved.current === endpoint) return;
    const { name, definition, sql, test } = endpoint;
    const body = { ...{ name, definition, sql, version: null }, ...(test !== '' && { test }) };
    await client.post<SavedEndpoint>('/api/workbench/save', ['name'], body);
    saved.current = endpoint;
    void cache.invalidateQueries({ queryKey: queries.endpoints.queryKey });
  };
}

const DELAY_MS = 1_000;
const BUSY = 'rate_limited';

interface PastProps {
  readonly definition: string;
  /** Its endpoint, if it is not saved. */
  readonly endpoint: Pick<Unsaved, 'definition' | 'sql'> | undefined;
}

/** When the alert would have fired, as soon as its text has been left alone for a second. */
function Past({ definition, endpoint }: PastProps) {
  const client = useClient();
  const path = '/api/workbench/alerts/try';
  const { data, error, isPending } = useQuery({
    queryKey: [path, definition, endpoint],
    async queryFn({ signal }) {
      await pause(DELAY_MS, signal);
      const body = { definition, ...(endpoint !== undefined && { endpoint }) };
      return await client.post<AlertReplayView>(path, ['ticks'], body, signal);
    },
    // The service tries one alert at a time.
    retry: (_, failure) => failure.code === BUSY,
    retryDelay: (_, failure) => (failure.retryAfterSeconds ?? 5) * 1_000,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0, // a text is rarely the same again
  });
  const isFaulty = error?.code === 'invalid_definition';
  const state = isPending
    ? 'Trying the last 7 days…'
    : 'The last 7 days are tried as soon as it has no fault.';
  return (
    <div className="bench-form" aria-live="polite">
      {error !== null && (!isFaulty || endpoint !== undefined) && <ErrorNote error={error} />}
      {(isPending || isFaulty) && <div className="note is-info">{state}</div>}
      {data !== undefined && <div className="note is-info">{describePast(data)}</div>}
    </div>
  );
}

/** `would have fired 3 times in the last 7 days, 5 messages` */
function describePast(past: AlertReplayView): string {
  const { fired, messages, ticks, failures, every_seconds: every, last_error: reason } = past;
  const times = fired === 1 ? 'once' : `${fired} times`;
  const sent = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`;
  const failed = failures === 0 ? '' : ` ${failures} of ${ticks} evaluations failed: ${reason}`;
  return `It would have fired ${times} in the last 7 days, ${sent}, evaluated every ${formatSeconds(every)}.${failed}`;
}
