import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type {
  AlertDetailView,
  AlertEntryView,
  AlertTestView,
} from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import { maySearch, mayUseWorkbench, queries, query, useClient, useRead } from '../../api/queries.ts';
import { formatSeconds } from '../../format/show.ts';
import { withQuery } from '../../format/values.ts';
import { LinkCharts, LinkedChart } from '../../ui/chart/linked-charts.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Button, Empty, ErrorNote, MissingPage, Panel, Tag, type Tone } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns, usePages } from '../../ui/table/panel-table.tsx';
import { Ago, Instant } from '../../ui/time/time-control.tsx';
import { lineLinks } from '../endpoint/lines.ts';
import { alertFilePath } from '../workbench/path.ts';
import './alerts.css';
import { AlertState, apiPath, describeCondition, KINDS, Pairs } from './alert-state.tsx';
import { alertLinesPath, searchOf, toChart, valuesOf } from './chart.ts';
import { Silences } from './silences.tsx';

const EVERY_MS = 10_000;

export default function AlertPage() {
  const { name = '' } = useParams();
  const asked = query<AlertDetailView>(apiPath({ name }), ['instances', 'chart']);
  const { value: alert, error } = useRead(asked, { everyMs: EVERY_MS });
  if (alert !== undefined) return <Known alert={alert} error={error} />;
  return (
    <MissingPage title={name} error={error} unknown="No such alert">
      This key may see no alert called <code>{name}</code>. The <Link href="/alerts">list</Link> has those
      that it may see.
    </MissingPage>
  );
}

interface Shown {
  readonly alert: AlertDetailView;
}

function Known({ alert, error }: Shown & { readonly error: ApiError | undefined }) {
  const { self } = useClient();
  const { value } = useRead(queries.endpoints);
  const own = value?.result.find(({ name, id }) => name === alert.endpoint || id === alert.endpoint);
  const endpoint = maySearch(self) ? own : undefined;
  return (
    <>
      <Head alert={alert} lines={endpoint && alertLinesPath(alert, endpoint, Date.now())} />
      {error !== undefined && <ErrorNote error={error} />}
      {alert.last_error !== null && (
        <div className="note is-bad" role="alert">
          <strong>The last evaluation failed</strong>
          <span>{alert.last_error}</span>
        </div>
      )}
      {alert.instances.length > 0 && (
        <RowTable
          title="Instances"
          rowClass="alert-line"
          rows={alert.instances}
          keyOf={({ kind, labels }) => `${kind} ${JSON.stringify(labels)}`}
          columns={INSTANCE_COLUMNS}
        />
      )}
      <AlertChart alert={alert} endpoint={endpoint} />
      <Silences alert={alert} />
      {/* What happened is read again when the state has changed. */}
      <History key={`${alert.state} ${alert.instances.length}`} path={`${apiPath(alert)}/history`} />
    </>
  );
}

function Head({ alert, lines }: Shown & { readonly lines: string | undefined }) {
  const { self } = useClient();
  const [isTesting, setTesting] = useState(false);
  const { name, description, severity, endpoint, every_seconds: every, to } = alert;
  return (
    <div className="page-head">
      <div className="row">
        <h1 className="alert-name">{name}</h1>
        <AlertState alert={alert} />
        <Tag>{severity}</Tag>
        {self.scopes.includes('manage') && <Button onClick={() => setTesting(true)}>Send a test</Button>}
      </div>
      <p>{description}</p>
      <Pairs
        className="alert-facts"
        of={{
          When: describeCondition(alert),
          Of: (
            <Link href={withQuery(`/endpoints/${encodeURIComponent(endpoint)}`, valuesOf(alert))}>
              {endpoint}
            </Link>
          ),
          Every: formatSeconds(every),
          Next: <Ago iso={alert.next_evaluation} />,
          Last: alert.last_evaluation === null ? 'never' : <Ago iso={alert.last_evaluation} />,
          Calls: to.join(', '),
          ...(lines !== undefined && { Lines: <Link href={lines}>Explore them</Link> }),
          ...(mayUseWorkbench(self) && {
            File: <Link href={alertFilePath(name)}>Open in the workbench</Link>,
          }),
        }}
      />
      {isTesting && <TestDialog alert={alert} onClose={() => setTesting(false)} />}
    </div>
  );
}

const INSTANCE_COLUMNS: TableColumns<AlertDetailView['instances'][number]> = {
  Instance: ({ kind, labels }) => <Pairs of={labels} none={KINDS[kind]} />,
  State: ({ state }) => <Tag tone={state === 'firing' ? 'bad' : 'warn'}>{state}</Tag>,
  Since: ({ since }) => <Ago iso={since} />,
  Values: styled('alert-instances', ({ values }) => <Pairs of={values} none="none" />),
};

/** The time of the service, as far as its ticks say: the clock of this machine may be wrong. */
function serviceNow({ next_evaluation: next, every_seconds: every }: AlertDetailView): number {
  const nextMs = Date.parse(next);
  return Math.min(Math.max(Date.now(), nextMs - every * 1000), nextMs);
}

/** @param endpoint undefined: not read yet, or the key may not search */
function AlertChart({ alert, endpoint }: Shown & { readonly endpoint: EndpointView | undefined }) {
  const shown = useMemo(() => {
    return {
      chart: toChart(alert, serviceNow(alert), endpoint && searchOf(alert, endpoint)),
      ...(endpoint !== undefined && lineLinks(endpoint, valuesOf(alert))),
    };
  }, [alert, endpoint]);
  return (
    <Panel title="The last day">
      {alert.chart.points.length === 0 ? (
        <Empty title="No values yet">
          Each evaluation adds the value that it compared; the next one is due soon after the service has
          started.
        </Empty>
      ) : (
        <LinkCharts>
          <LinkedChart {...shown} />
        </LinkCharts>
      )}
    </Panel>
  );
}

function TestDialog({ alert, onClose }: Shown & { readonly onClose: () => void }) {
  const client = useClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.post<AlertTestView>(`${apiPath(alert)}/test`, ['firing', 'last_error']),
  });
  return (
    <Dialog title={`Test ${alert.name}`} onClose={onClose}>
      {data === undefined ? (
        <p>
          Evaluates the alert as of now and sends one message that is marked as a test to{' '}
          {alert.to.join(', ')}. Its state does not change.
        </p>
      ) : (
        <Tested tested={data} />
      )}
      <div role="status" className="visually-hidden">
        {isPending ? 'Sending' : data === undefined ? '' : 'The test has ended'}
      </div>
      {error !== null && <ErrorNote error={error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>{data === undefined ? 'Cancel' : 'Close'}</Button>
        {data === undefined && (
          <Button look="primary" disabled={isPending} onClick={() => mutate()}>
            {isPending ? 'Sending…' : 'Send the test'}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

const outcomeOf = (outcome: string) =>
  outcome === 'sent' ? <Tag tone="ok">sent</Tag> : <span className="tone-bad">{outcome}</span>;

function Tested({ tested: { result, firing, last_error: failure } }: { readonly tested: AlertTestView }) {
  return (
    <>
      <p>
        {failure !== null
          ? `The query fails: ${failure}`
          : firing === 0
            ? 'Nothing fires at present.'
            : `${firing} ${firing === 1 ? 'instance fires' : 'instances fire'} at present.`}
      </p>
      <Pairs
        of={Object.fromEntries(Object.entries(result).map(([receiver, one]) => [receiver, outcomeOf(one)]))}
      />
    </>
  );
}

const PAGE = 20;
const TONES: Readonly<Record<AlertEntryView['change'], Tone>> = {
  firing: 'bad',
  resolved: 'ok',
  no_data: 'warn',
  error: 'bad',
  failed: 'warn',
  note: 'neutral',
  delivered: 'neutral',
  not_delivered: 'bad',
};

const HISTORY_COLUMNS: TableColumns<AlertEntryView> = {
  Time: styled('number small', ({ at }) => <Instant iso={at} />),
  Change: ({ change, quiet }) => (
    <span className="row">
      <Tag tone={TONES[change]}>{change.replaceAll('_', ' ')}</Tag>
      {quiet === true && <Tag>no message</Tag>}
    </span>
  ),
  About: styled('alert-instances', (entry) => <About entry={entry} />),
};

/** What happened to an alert, newest first. @param path of the API */
function History({ path }: { readonly path: string }) {
  const pages = usePages<AlertEntryView>(path, { size: PAGE, older: 'Load older entries' });
  return (
    <RowTable
      title="History"
      rowClass="alert-line"
      {...pages}
      empty={['Nothing has happened', 'What fires, resolves or fails is listed here for 90 days.']}
      keyOf={({ id }) => id}
      columns={HISTORY_COLUMNS}
    />
  );
}

function About({ entry }: { readonly entry: AlertEntryView }) {
  const { labels, values, receiver, reason, status } = entry;
  if (labels !== null) return <Pairs of={{ ...labels, ...values }} none="the whole answer" />;
  const said = [receiver, reason ?? status?.replaceAll('_', ' ')].filter((text) => text != null);
  return <span className="small">{said.join(': ')}</span>;
}
