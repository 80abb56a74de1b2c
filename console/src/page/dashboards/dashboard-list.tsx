import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { DashboardSummary } from '../../../../src/management/dashboard-view.ts';
import { mayUseWorkbench, queries, useClient, useRead } from '../../api/queries.ts';
import { Form, Input } from '../../ui/form.tsx';
import { Button, Empty, PageHead, Reading } from '../../ui/page-part.tsx';
import './dashboard.css';

export default function DashboardListPage() {
  const { self } = useClient();
  const { value, error } = useRead(queries.dashboards);
  const dashboards = value?.result;
  return (
    <>
      <PageHead title="Dashboards">Pages of panels, each an endpoint.</PageHead>
      {(dashboards === undefined || error !== undefined) && <Reading error={error} />}
      {dashboards !== undefined && dashboards.length > 0 && (
        <ul className="dashboard-list">
          {dashboards.map((dashboard) => (
            <DashboardCard key={dashboard.id} dashboard={dashboard} />
          ))}
        </ul>
      )}
      {dashboards?.length === 0 && (
        <Empty title="No dashboards">
          A key sees the panels of the endpoints that it may call; <code>docs/dashboards.md</code> explains
          how to write one.
        </Empty>
      )}
      {dashboards !== undefined && mayUseWorkbench(self) && <NewDashboard taken={dashboards} />}
    </>
  );
}

function DashboardCard({ dashboard }: { readonly dashboard: DashboardSummary }) {
  const { name, title, description, panels } = dashboard;
  return (
    <li className="panel dashboard-card">
      <Link href={`/dashboards/${name}`}>{title}</Link>
      <span className="muted">{description}</span>
      <span className="small muted">
        <code>{name}</code> · {panels} {panels === 1 ? 'panel' : 'panels'}
      </span>
    </li>
  );
}

const NAME = '[a-z0-9][a-z0-9_\\-]*(\\.[a-z0-9_\\-]+)*';

function NewDashboard({ taken }: { readonly taken: readonly DashboardSummary[] }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const onSubmit = () => {
    const isTaken = taken.some((one) => one.name === name);
    navigate(`/dashboards/${name}${isTaken ? '' : '?ui.edit=1'}`);
  };
  return (
    <Form className="row dashboard-new" noValidate={false} onSubmit={onSubmit}>
      <label htmlFor="dashboard-name">New dashboard</label>
      <Input
        id="dashboard-name"
        required
        maxLength={100}
        pattern={NAME}
        placeholder="checkout"
        title="Small letters, digits, -, _ and dots"
        value={name}
        onChange={setName}
      />
      <Button type="submit">Write it</Button>
    </Form>
  );
}
