import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type {
  AlertDetailView,
  AlertEntryView,
  AlertTestView,
} from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { queries, query, usePages, useRead } from '../../api/queries.ts';
import { maySearch, mayUseWorkbench } from '../../api/right.ts';
import { formatSeconds } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { LinkCharts, LinkedChart } from '../../ui/chart/linked-charts.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { MissingPage } from '../../ui/page-head.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RowTable, rowsOfPages } from '../../ui/table/panel-table.tsx';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { lineLinks } from '../endpoint/lines.ts';
import { alertFilePath } from '../workbench/path.ts';
import './alerts.css';
import { formatTime } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { AlertState, describeCondition, KINDS, Pairs } from './alert-state.tsx';
import { alertLinesPath, endpointPath, searchOf, toChart, valuesOf } from './chart.ts';
import { Silences } from './silences.tsx';

const EVERY_MS = 10_000;

/** One alert: its state, what its evaluations saw, its silences and its history. */
export default function AlertPage() {
  const { name = '' } = useParams();
  const path = `/api/alerts/${encodeURIComponent(name)}`;
  const asked = useMemo(() => query<AlertDetailView>(path, ['instances', 'chart']), [path]);
  const { value: alert, error } = useRead(asked, { everyMs: EVERY_MS });
  if (alert !== undefined) return <Known alert={alert} error={error} path={path} />;
  return (
    <MissingPage title={name} error={error} unknown="No such alert">
      This key may see no alert called <code>{name}</code>. The <Link href="/alerts">list</Link> has those
      that it may see.
    </MissingPage>
  );
}

interface KnownProps {
  readonly alert: AlertDetailView;
  readonly error: ReturnType<typeof useRead>['error'];
  /** The path in the API. */
  readonly path: string;
}

function Known({ alert, error, path }: KnownProps) {
  const { self } = useClient();
  const { value } = useRead(queries.endpoints);
  const own = value?.result.find(({ name, id }) => name === alert.endpoint || id === alert.endpoint);
  const endpoint = maySearch(self) ? own : undefined;
  const mayManage = self.scopes.includes('manage');
  return (
    <>
      <Head alert={alert} lines={endpoint && alertLinesPath(alert, endpoint, Date.now())} path={path} />
      {error !== undefined && <ErrorNote error={error} />}
      {alert.last_error !== null && (
        <div className="note is-bad" role="alert">
          <strong>The last evaluation failed</strong>
          <span>{alert.last_error}</span>
        </div>
      )}
      <Instances alert={alert} />
      <AlertChart alert={alert} endpoint={endpoint} />
      <Silences alert={alert} path={path} mayManage={mayManage} />
      {/* What happened is read again when the state has changed. */}
      <History key={`${alert.state} ${alert.instances.length}`} path={`${path}/history`} />
    </>
  );
}

interface HeadProps extends Pick<KnownProps, 'alert' | 'path'> {
  /** Path of Explore. */
  readonly lines: string | undefined;
}

function Head({ alert, lines, path }: HeadProps) {
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
          Of: <Link href={endpointPath(alert)}>{endpoint}</Link>,
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
      {isTesting && (
        <TestDialog name={name} to={to} path={`${path}/test`} onClose={() => setTesting(false)} />
      )}
    </div>
  );
}

function Instances({ alert: { instances } }: Pick<KnownProps, 'alert'>) {
  if (instances.length === 0) return null;
  return (
    <RowTable
      title="Instances"
      rowClass="alert-line"
      rows={instances}
      keyOf={({ kind, labels }) => `${kind} ${JSON.stringify(labels)}`}
      columns={[
        { name: 'Instance', cell: ({ kind, labels }) => <Pairs of={labels} none={KINDS[kind]} /> },
        {
          name: 'State',
          cell: ({ state }) => <Tag tone={state === 'firing' ? 'bad' : 'warn'}>{state}</Tag>,
        },
        { name: 'Since', cell: ({ since }) => <Ago iso={since} /> },
        {
          name: 'Values',
          className: 'alert-instances',
          cell: ({ values }) => <Pairs of={values} none="none" />,
        },
      ]}
    />
  );
}

/** The time of the service, as far as its ticks say: the clock of this machine may be wrong. */
function serviceNow({ next_evaluation: next, every_seconds: every }: AlertDetailView): number {
  const nextMs = Date.parse(next);
  return Math.min(Math.max(Date.now(), nextMs - every * 1000), nextMs);
}

interface AlertChartProps {
  readonly alert: AlertDetailView;
  /** `undefined`: not read yet, or the key may not search. */
  readonly endpoint: EndpointView | undefined;
}

/** What the evaluations of the last day saw, with the threshold; a selection leads to its lines. */
function AlertChart({ alert, endpoint }: AlertChartProps) {
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

interface TestDialogProps {
  /** The name of the alert. */
  readonly name: string;
  readonly to: readonly string[];
  /** The path in the API. */
  readonly path: string;
  readonly onClose: () => void;
}

/** Asks before a test message calls people, then says what each receiver made of it. */
function TestDialog({ name, to, path, onClose }: TestDialogProps) {
  const client = useClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.call<AlertTestView>(path, ['firing', 'last_error'], { method: 'POST' }),
  });
  return (
    <Dialog title={`Test ${name}`} onClose={onClose}>
      {data === undefined ? (
        <p>
          Evaluates the alert as of now and sends one message that is marked as a test to {to.join(', ')}. Its
          state does not change.
        </p>
      ) : (
        <Outcome tested={data} />
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

function Outcome({ tested: { result, firing, last_error: failure } }: { readonly tested: AlertTestView }) {
  const outcomes = Object.entries(result).map(([receiver, outcome]) => [
    receiver,
    outcome === 'sent' ? (
      <Tag key={receiver} tone="ok">
        sent
      </Tag>
    ) : (
      <span key={receiver} className="tone-bad">
        {outcome}
      </span>
    ),
  ]);
  return (
    <>
      <p>
        {failure !== null
          ? `The query fails: ${failure}`
          : firing === 0
            ? 'Nothing fires at present.'
            : `${firing} ${firing === 1 ? 'instance fires' : 'instances fire'} at present.`}
      </p>
      <Pairs of={Object.fromEntries(outcomes)} />
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

/** What happened to an alert, newest first. @param path of the API */
function History({ path }: { readonly path: string }) {
  const entries = usePages<AlertEntryView>(path, { size: PAGE });
  const zone = useZone();
  return (
    <RowTable
      title="History"
      rowClass="alert-line"
      {...rowsOfPages(entries, 'Load older entries')}
      empty={['Nothing has happened', 'What fires, resolves or fails is listed here for 90 days.']}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Time', className: 'number small', cell: ({ at }) => formatTime(Date.parse(at), zone) },
        {
          name: 'Change',
          cell: ({ change, quiet }) => (
            <span className="row">
              <Tag tone={TONES[change]}>{change.replaceAll('_', ' ')}</Tag>
              {quiet === true && <Tag>no message</Tag>}
            </span>
          ),
        },
        { name: 'About', className: 'alert-instances', cell: (entry) => <About entry={entry} /> },
      ]}
    />
  );
}

function About({ entry }: { readonly entry: AlertEntryView }) {
  const { labels, values, receiver, reason, status } = entry;
  if (labels !== null) return <Pairs of={{ ...labels, ...values }} none="the whole answer" />;
  const said = [receiver, reason ?? status?.replaceAll('_', ' ')].filter((text) => text != null);
  return <span className="small">{said.join(': ')}</span>;
}
