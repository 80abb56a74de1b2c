import { Link, useParams } from 'wouter';
import type { DashboardView } from '../../../../src/management/dashboard-view.ts';
import { mayUseWorkbench, query as queryOf, useClient, useRead } from '../../api/queries.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { OWN, usePageAddress } from '../../ui/page-address.ts';
import { Button, CopyButton, MissingPage, PageHead } from '../../ui/page-part.tsx';
import './dashboard.css';
import { DashboardBody } from './dashboard-body.tsx';

const EDIT = `${OWN}edit`;
const EditDashboard = lazyPart(async () => (await import('./edit-dashboard.tsx')).EditDashboard);

/** A page of panels, each an endpoint; with `ui.edit=1` its file beside it. */
export default function DashboardPage() {
  const { name = '' } = useParams();
  const { self } = useClient();
  const { query, change } = usePageAddress();
  const mayEdit = mayUseWorkbench(self);
  const isEdited = mayEdit && query.get(EDIT) === '1';
  const read = queryOf<DashboardView>(`/api/dashboards/${encodeURIComponent(name)}`, ['rows', 'parameters']);
  const { value, error } = useRead(read, { isWanted: !isEdited });
  if (isEdited) return <EditDashboard key={name} />;
  if (value !== undefined)
    return (
      <Known key={value.id} dashboard={value} onEdit={mayEdit ? () => change({ [EDIT]: '1' }) : undefined} />
    );
  return (
    <MissingPage title={name} error={error} unknown="No such dashboard">
      This key sees no panel of a dashboard called <code>{name}</code>.{' '}
      <Link href="/dashboards">Those that it sees</Link>
    </MissingPage>
  );
}

/** @param onEdit undefined: the key may not */
function Known(props: Readonly<{ dashboard: DashboardView; onEdit: (() => void) | undefined }>) {
  const { dashboard, onEdit } = props;
  const { title, description } = dashboard;
  return (
    <div className="stack">
      <PageHead
        title={title}
        actions={
          <>
            <CopyButton text={() => location.href} label="Copy link" />
            <Button onClick={() => print()}>Print</Button>
            {onEdit !== undefined && <Button onClick={onEdit}>Edit</Button>}
          </>
        }
      >
        {description || undefined}
      </PageHead>
      <DashboardBody dashboard={dashboard} />
    </div>
  );
}
