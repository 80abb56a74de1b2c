import { Link, useLocation, useSearch } from 'wouter';
import { queries, useRead } from '../../../api/queries.ts';
import { Empty } from '../../../ui/empty.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import '../../alerts/alerts.css';
import { FileText } from '../file-text.tsx';
import { WorkChoice } from '../work-choice.tsx';
import '../workbench.css';
import { AlertForm } from './alert-form.tsx';
import { parseAlertUrl } from './path.ts';

/** Writes alerts: `?endpoint=NAME` begins one with a form, `?name=NAME` opens the file of one. */
export function AlertBenchPage() {
  const { name, endpoint, values } = parseAlertUrl(useSearch());
  const [, navigate] = useLocation();
  const workbench = useRead(queries.workbench);
  const endpoints = useRead(queries.endpoints);
  const alerts = useRead(queries.alerts);
  const error = workbench.error ?? endpoints.error ?? alerts.error;
  const isRead = workbench.value !== undefined && endpoints.value !== undefined && alerts.value !== undefined;
  return (
    <>
      <div className="page-head bench-head">
        <h1>{name === '' ? 'Alert on an endpoint' : 'Workbench'}</h1>
        {name !== '' && <WorkChoice alert={name} onOpen={navigate} />}
      </div>
      {!isRead && error === undefined && <p className="muted">Reading…</p>}
      {error?.status === 403 && <Empty title="This key may not use the workbench">{error.message}</Empty>}
      {error !== undefined && error.status !== 403 && <ErrorNote error={error} />}
      {workbench.value !== undefined && name !== '' && (
        <FileText
          key={name}
          kind="alerts"
          name={name}
          refusal={workbench.value.alerts.refusal}
          actions={
            <Link className="small" href={`/alerts/${name}`}>
              Its page
            </Link>
          }
        />
      )}
      {isRead && name === '' && (
        <AlertForm
          key={endpoint}
          given={{ endpoint, values }}
          endpoints={endpoints.value.result}
          taken={alerts.value.result.map((one) => one.name)}
          workbench={workbench.value}
        />
      )}
    </>
  );
}
