import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { AlertReplayView } from '../../../../../src/management/alert-view.ts';
import type { EndpointView, WorkbenchView } from '../../../../../src/management/view.ts';
import { useClient } from '../../../api/client.ts';
import { queries, useRead } from '../../../api/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Checks, Form, Group, TextField } from '../../../ui/form.tsx';
import { Empty, ErrorNote } from '../../../ui/note.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { FileText } from '../file-text.tsx';
import { WorkChoice } from '../work-choice.tsx';
import '../../alerts/alerts.css';
import '../workbench.css';
import { parseAlertUrl } from '../path.ts';
import { useSaveFile } from '../use-save-file.ts';
import { AboutFields, TimeFields, WhenFields } from './about-fields.tsx';
import { type AlertDraft, createDraft, describePast, faultOfField, labelColumns, toFile } from './form.ts';

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

interface AlertFormProps {
  /** From the URL. */
  readonly given: { readonly endpoint: string; readonly values: Readonly<Record<string, string>> };
  readonly endpoints: readonly EndpointView[];
  /** Names of alerts. */
  readonly taken: readonly string[];
  readonly workbench: WorkbenchView;
}

/** Begins an alert on an endpoint: writes its file, which is shown beside the form. Faults are shown at the fields. */
function AlertForm({ given, endpoints, taken, workbench }: AlertFormProps) {
  const [, navigate] = useLocation();
  const { refusal, receivers } = workbench.alerts;
  const find = (name: string) => endpoints.find((one) => one.name === name);
  const [draft, setDraft] = useState<AlertDraft>(() => ({
    ...createDraft(find(given.endpoint), given.values, taken),
    to: receivers.slice(0, 1),
  }));
  const change = (part: Partial<AlertDraft>) => setDraft((before) => ({ ...before, ...part }));
  const endpoint = find(draft.endpoint);
  const columns = endpoint?.columns ?? [];
  const { text, fields } = useMemo(() => toFile(draft, endpoint?.columns ?? []), [draft, endpoint]);
  const [sent, setSent] = useState(fields);
  const { save, busy, error } = useSaveFile('alerts', ({ name }) => navigate(`/alerts/${name}`));
  const fault = (field: string) =>
    field === 'name' && error?.code === 'conflict' ? error.message : faultOfField(error, sent, field);
  const onSubmit = () => {
    setSent(fields);
    save({ name: draft.name, definition: text, version: null });
  };
  const labels = labelColumns(columns);
  return (
    <div className="alert-bench">
      <Panel title="The alert">
        <Form className="stack" error={error} onSubmit={onSubmit}>
          <AboutFields
            draft={draft}
            endpoints={endpoints}
            fault={fault}
            onChange={change}
            onEndpoint={(name) => setDraft({ ...createDraft(find(name), {}, taken), to: draft.to })}
          />
          <WhenFields draft={draft} columns={columns} fault={fault('when')} onChange={change} />
          {labels.length > 0 && (
            <Group
              legend="Per"
              help="An instance for each set of their values; none: the answer is one."
              fault={fault('per')}
            >
              <Checks
                items={labels.map(({ name }) => ({ value: name }))}
                checked={draft.per}
                onChange={(per) => change({ per })}
              />
            </Group>
          )}
          <TimeFields draft={draft} fault={fault} onChange={change} />
          <Receivers names={receivers} draft={draft} fault={fault('to')} onChange={change} />
          {error !== undefined && <ErrorNote error={error} />}
          <Past definition={text} />
          {refusal === null ? (
            <div className="dialog-actions">
              <Button type="submit" look="primary" disabled={busy}>
                {busy ? 'Saving…' : 'Save the alert'}
              </Button>
            </div>
          ) : (
            <div className="note is-info">Not saved here: {refusal}.</div>
          )}
        </Form>
      </Panel>
      <Code text={text} language="yaml" label={`alerts/${draft.name || 'name'}.yaml`} />
    </div>
  );
}

/** When the alert would have fired. @param definition the text of its file */
function Past({ definition }: { readonly definition: string }) {
  const client = useClient();
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: (body: { readonly definition: string }) =>
      client.call<AlertReplayView>('/api/workbench/alerts/try', ['ticks'], { method: 'POST', body }),
  });
  const isOther = variables?.definition !== definition;
  return (
    <div className="stack" aria-live="polite">
      <div className="dialog-actions">
        <Button disabled={isPending} onClick={() => mutate({ definition })}>
          {isPending ? 'Trying…' : 'Try the last 7 days'}
        </Button>
      </div>
      {error !== null && !isOther && <ErrorNote error={error} />}
      {data !== undefined && !isOther && <div className="note is-info">{describePast(data)}</div>}
    </div>
  );
}

interface ReceiversProps {
  /** Empty: the service has none. */
  readonly names: readonly string[];
  readonly draft: AlertDraft;
  readonly fault: string | undefined;
  readonly onChange: (part: Partial<AlertDraft>) => void;
}

function Receivers({ names, draft, fault, onChange }: ReceiversProps) {
  if (names.length > 0) {
    return (
      <Group legend="To" fault={fault}>
        <Checks
          items={names.map((value) => ({ value }))}
          checked={draft.to}
          onChange={(to) => onChange({ to })}
        />
      </Group>
    );
  }
  return (
    <TextField
      label="To"
      help="Names of receivers, with commas. This service has none yet: TAILRACE_RECEIVERS_FILE names their file."
      value={draft.to.join(',')}
      fault={fault}
      onChange={(text) => onChange({ to: text === '' ? [] : text.split(',').map((one) => one.trim()) })}
    />
  );
}
