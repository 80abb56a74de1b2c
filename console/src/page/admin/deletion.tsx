import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeletionView } from '../../../../src/management/view.ts';
import { type Client, useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { isLimited } from '../../api/right.ts';
import { formatCount } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ConfirmDeletion } from './confirm-deletion.tsx';
import { DeletionForm } from './deletion-form.tsx';
import { DeletionResult } from './deletion-result.tsx';

/** The events to delete, as POST /api/deletions takes them. */
export interface DeletionRequest {
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
