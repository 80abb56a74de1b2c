import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { DeletionView } from '../../../../src/management/view.ts';
import { type Client, useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { queries, sourcesOf, useRead } from '../../api/queries.ts';
import { isLimited } from '../../api/right.ts';
import { formatCount } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, describedBy, Field, Form, TextField } from '../../ui/form.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Segmented } from '../../ui/tabs.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';

/** The events to delete, as POST /api/deletions takes them. */
interface DeletionRequest {
  /** Empty: events that belong to no project. */
  readonly project: string;
  readonly source?: string;
  readonly before?: string;
}

const NEEDS = ['id', 'state', 'rows', 'sources'] as const;
const POLL_MS = 1_000;

/** Counts the events of a project, then deletes them. */
export function Deletion() {
  const client = useClient();
  const [isAsked, setAsked] = useState(false);
  const [job, setJob] = useState<DeletionView>();
  const count = useMutation({
    mutationFn: async (request: DeletionRequest) => ({
      request,
      counted: await send(client, { ...request, dry_run: true }),
    }),
    onMutate: () => setJob(undefined),
  });
  const remove = useMutation({
    mutationFn: (request: DeletionRequest) => deleteEvents(client, request, setJob),
    onSettled: () => setAsked(false),
    onSuccess: () => count.reset(),
  });
  if (isLimited(client.self))
    return (
      <Panel title="Delete events">
        <Empty title="This key may not delete events">
          A deletion concerns every source, and this key is limited to endpoints, sources or pinned values.
        </Empty>
      </Panel>
    );
  const counted = count.data?.counted;
  return (
    <Panel title="Delete events">
      <div className="admin-deletion">
        <DeletionForm
          busy={count.isPending || remove.isPending}
          onCount={count.mutate}
          onChange={count.reset}
        />
        {count.error !== null && <ErrorNote error={count.error} />}
        {remove.error !== null && <ErrorNote error={remove.error} />}
        {counted !== undefined && <DeletionResult deletion={counted} />}
        {counted !== undefined && counted.rows > 0 && (
          <Button look="danger" disabled={remove.isPending} onClick={() => setAsked(true)}>
            Delete {formatCount(counted.rows)} events…
          </Button>
        )}
        {job !== undefined && <DeletionResult deletion={job} />}
        {isAsked && count.data !== undefined && (
          <ConfirmDeletion
            {...count.data}
            busy={remove.isPending}
            onClose={() => setAsked(false)}
            onConfirm={remove.mutate}
          />
        )}
      </div>
    </Panel>
  );
}

function send(client: Client, body: object): Promise<DeletionView> {
  return client.call<DeletionView>('/api/deletions', NEEDS, { method: 'POST', body });
}

/** Deletes, and reports how far that is until it has ended. @throws ApiError */
async function deleteEvents(
  client: Client,
  request: DeletionRequest,
  onProgress: (job: DeletionView) => void,
): Promise<void> {
  const { signal } = new AbortController();
  let job = await send(client, request);
  onProgress(job);
  while (job.state === 'running') {
    await pause(POLL_MS, signal);
    job = await client.call<DeletionView>(`/api/deletions/${job.id}`, NEEDS);
    onProgress(job);
  }
}

const DAY_MS = 86_400_000;
const PICKS = [
  ['a day ago', -DAY_MS],
  ['a week ago', -7 * DAY_MS],
  ['30 days ago', -30 * DAY_MS],
] as const;
const WHOSE = [
  { id: 'project', label: 'Of a project' },
  { id: 'none', label: 'Without a project' },
] as const;

interface DeletionFormProps {
  readonly busy: boolean;
  readonly onCount: (request: DeletionRequest) => void;
  /** Called with each change: an earlier count is of other events. */
  readonly onChange: () => void;
}

/** Chooses the events to delete. */
function DeletionForm({ busy, onCount, onChange }: DeletionFormProps) {
  const id = useId();
  const projects = useRead(queries.projects).value?.result ?? [];
  const list = useRead(queries.sources).value;
  const sources = list === undefined ? [] : sourcesOf(list).filter((one) => one.managed && !one.protected);
  const [whose, setWhose] = useState<(typeof WHOSE)[number]['id']>('project');
  const [values, setValues] = useState({ project: '', source: '', before: '' });
  const { project, source, before } = values;
  const change = (some: Partial<typeof values>) => {
    setValues({ ...values, ...some });
    onChange();
  };
  const onSubmit = () => {
    if (whose === 'project' && project === '') return;
    onCount({
      project: whose === 'none' ? '' : project,
      ...(source !== '' && { source }),
      ...(before !== '' && { before }),
    });
  };
  return (
    <Form className="admin-form" onSubmit={onSubmit}>
      <Segmented
        label="Events"
        options={WHOSE}
        selected={whose}
        onSelect={(next) => {
          setWhose(next);
          onChange();
        }}
      />
      {whose === 'project' && (
        <TextField
          label="Project"
          help="Exactly as the events have it."
          value={project}
          suggestions={projects}
          onChange={(next) => change({ project: next })}
        />
      )}
      <ChoiceField
        label="Source"
        value={source}
        options={[['', 'Every source'], ...sources.map(({ name }) => name)]}
        onChange={(next) => change({ source: next })}
      />
      <Field id={`${id}-before`} label="Only events before" help="Empty: up to now.">
        <TimeControl
          id={`${id}-before`}
          className="input"
          aria-describedby={describedBy(`${id}-before`)}
          value={before}
          picks={PICKS}
          clear="now"
          onChange={(next) => change({ before: next })}
        />
      </Field>
      <Button type="submit" look="primary" disabled={busy || (whose === 'project' && project === '')}>
        Count the events
      </Button>
    </Form>
  );
}

const TITLES: Readonly<Record<DeletionView['state'], (events: string) => string>> = {
  planned: (events) => `${events} would be deleted; nothing has changed yet.`,
  running: (events) => `${events} are being deleted…`,
  done: (events) => `${events} are deleted.`,
  failed: (events) => `The deletion of ${events} failed.`,
};

/** The events that a deletion concerns, by source, and its state. */
function DeletionResult({ deletion }: { readonly deletion: DeletionView }) {
  const { state, rows, sources, left_out: leftOut, progress, error } = deletion;
  const events = rows === 1 ? '1 event' : `${formatCount(rows)} events`;
  return (
    <div className={state === 'failed' ? 'note is-bad' : 'note is-info'} role="status">
      <strong>{rows === 0 && state === 'planned' ? 'No event matches.' : TITLES[state](events)}</strong>
      {error !== null && <span>{error}</span>}
      {progress !== null && (
        <span className="small muted">
          {progress.source}: {formatCount(progress.parts_left)} parts left to rewrite
        </span>
      )}
      {sources.length > 0 && (
        <dl className="admin-counts">
          {sources.map((one) => (
            <div key={one.source}>
              <dt>{one.source}</dt>
              <dd className="number">{formatCount(one.rows)}</dd>
            </div>
          ))}
        </dl>
      )}
      {leftOut.map((one) => (
        <span key={one.source} className="small muted">
          {formatCount(one.rows)} of {one.source} stay: the source is protected.
        </span>
      ))}
    </div>
  );
}

interface ConfirmDeletionProps {
  readonly request: DeletionRequest;
  readonly counted: DeletionView;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onConfirm: (request: DeletionRequest) => void;
}

/** Asks for the name of the project: a deletion cannot be undone. */
function ConfirmDeletion({ request, counted, busy, onClose, onConfirm }: ConfirmDeletionProps) {
  const [typed, setTyped] = useState('');
  const expected = request.project || 'no project';
  const onSubmit = () => {
    if (typed === expected) onConfirm(request);
  };
  return (
    <Dialog title={`Delete ${formatCount(counted.rows)} events?`} onClose={onClose}>
      <Form className="admin-form" onSubmit={onSubmit}>
        <p>
          They are deleted from the disk and from every cached answer. This cannot be undone, except from a
          backup.
        </p>
        <TextField label={`Write ${expected} to confirm`} value={typed} onChange={setTyped} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" disabled={busy || typed !== expected}>
            {busy ? 'Deleting…' : 'Delete the events'}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
