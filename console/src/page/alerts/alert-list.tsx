import { Link } from 'wouter';
import type { AlertView } from '../../../../src/management/alert-view.ts';
import { mayUseWorkbench, queries, useClient, useRead } from '../../api/queries.ts';
import { Code } from '../../ui/code.tsx';
import { Empty, PageHead, Panel, Tag } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { AlertState, describeCondition, KINDS } from './alert-state.tsx';
import './alerts.css';

const EVERY_MS = 10_000;
const ORDER: readonly AlertView['state'][] = ['firing', 'pending', 'inactive'];

/** Every alert whose rows the key may read; those that fire first. */
export default function AlertListPage() {
  const { value, error } = useRead(queries.alerts, { everyMs: EVERY_MS });
  const alerts = value?.result.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const firing = alerts?.filter(({ state }) => state === 'firing').length ?? 0;
  return (
    <>
      <PageHead title="Alerts">
        <span role="status">
          {alerts === undefined || alerts.length === 0
            ? 'Saved queries that call you while their condition holds.'
            : `${firing} of ${alerts.length} ${firing === 1 ? 'fires' : 'fire'}.`}
        </span>
      </PageHead>
      {alerts?.length === 0 ? (
        <FirstAlert />
      ) : (
        <RowTable
          {...{ title: 'Alerts', rowClass: 'alert-line', rows: alerts, error }}
          columns={COLUMNS}
          keyOf={({ id }) => id}
        />
      )}
    </>
  );
}

const COLUMNS: TableColumns<AlertView> = {
  Alert: (alert) => <Name alert={alert} />,
  State: (alert) => <AlertState alert={alert} />,
  Since: ({ since }) => <Ago iso={since} />,
  Instances: styled('alert-instances', Instances),
  'Next evaluation': ({ next_evaluation: next }) => <Ago iso={next} />,
};

function Name({ alert }: { readonly alert: AlertView }) {
  const { name, description, severity, last_error: failure } = alert;
  return (
    <div className="panel-table-name">
      <span>
        <Link href={`/alerts/${name}`}>{name}</Link> <Tag>{severity}</Tag>
      </span>
      <span className="small muted">{description}</span>
      <span className="small muted">{describeCondition(alert)}</span>
      {failure !== null && <span className="small tone-warn">The query fails: {failure}</span>}
    </div>
  );
}

const SHOWN_MAX = 3;

function Instances({ instances }: Pick<AlertView, 'instances'>) {
  if (instances.length === 0) return <span className="muted">none</span>;
  const shown = instances.slice(0, SHOWN_MAX).map(({ kind, labels }) => {
    const values = Object.values(labels).join(', ');
    return { key: `${kind} ${JSON.stringify(labels)}`, text: values || KINDS[kind] };
  });
  return (
    <ul className="small">
      {shown.map(({ key, text }) => (
        <li key={key}>{text}</li>
      ))}
      {instances.length > SHOWN_MAX && <li className="muted">and {instances.length - SHOWN_MAX} more</li>}
    </ul>
  );
}

const EXAMPLE = `name: checkout.errors
description: Checkout fails for customers.
endpoint: failing.paths
parameters: { project: aurora }
every: 60
when: { column: failures, above: 10 }
per: [path]
text: "{{ path }} failed {{ failures }} times"
to: [ops]
`;

function FirstAlert() {
  const { self } = useClient();
  return (
    <Panel title="Write the first alert">
      <Empty title="No alerts">
        An alert is a file on an endpoint, such as this one.{' '}
        {mayUseWorkbench(self) ? (
          <>
            Choose <strong>Alert on this</strong> in Explore or on the page of an endpoint, or{' '}
            <Link href="/workbench/alert">write its file</Link>.
          </>
        ) : (
          'Whoever runs the service writes it; this key sees alerts on the endpoints that it may read.'
        )}{' '}
        <code>docs/alerts.md</code> explains each field.
      </Empty>
      <Code text={EXAMPLE} language="yaml" label="alerts/checkout.errors.yaml" />
    </Panel>
  );
}
