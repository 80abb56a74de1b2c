import { useMutation } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from 'wouter';
import type { AlertReplayView } from '../../../../src/management/alert-view.ts';
import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { formatSeconds } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { newAlert } from './definition.ts';
import { FileText } from './file-text.tsx';
import { parseAlertUrl } from './path.ts';
import { WorkHead } from './work-head.tsx';

/** The file of an alert: `?name=NAME` opens one, `?endpoint=NAME` begins one on an endpoint. */
export default function AlertBenchPage() {
  const search = useSearch();
  const { name, endpoint, values } = parseAlertUrl(search);
  const [, navigate] = useLocation();
  const workbench = useRead(queries.workbench);
  const endpoints = useRead(queries.endpoints);
  const alerts = useRead(queries.alerts);
  const error = workbench.error ?? endpoints.error ?? alerts.error;
  const isRead = workbench.value !== undefined && endpoints.value !== undefined && alerts.value !== undefined;
  return (
    <>
      <WorkHead alert={name} onOpen={navigate} />
      {!isRead && error === undefined && <p className="muted">Reading…</p>}
      {error !== undefined && <ErrorNote error={error} />}
      {isRead && (
        <FileText
          key={search}
          kind="alerts"
          name={name}
          draftName={name || search}
          refusal={workbench.value.alerts.refusal}
          template={
            name === ''
              ? newAlert(
                  endpoints.value.result.find((one) => one.name === endpoint),
                  values,
                  {
                    taken: alerts.value.result.map((one) => one.name),
                    receivers: workbench.value.alerts.receivers,
                  },
                )
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
          {(definition) => <Past definition={definition} />}
        </FileText>
      )}
    </>
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
    <div className="bench-form" aria-live="polite">
      <Button disabled={isPending} onClick={() => mutate({ definition })}>
        {isPending ? 'Trying…' : 'Try the last 7 days'}
      </Button>
      {error !== null && !isOther && <ErrorNote error={error} />}
      {data !== undefined && !isOther && <div className="note is-info">{describePast(data)}</div>}
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
