import { useMutation } from '@tanstack/react-query';
import type { AlertTestView } from '../../../../src/management/alert-view.ts';
import { useClient } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Tag } from '../../ui/tag.tsx';

interface TestDialogProps {
  /** The name of the alert. */
  readonly name: string;
  readonly to: readonly string[];
  /** The path in the API. */
  readonly path: string;
  readonly onClose: () => void;
}

/** Asks before a test message calls people, then says what each receiver made of it. */
export function TestDialog({ name, to, path, onClose }: TestDialogProps) {
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
  return (
    <>
      <p>
        {failure !== null
          ? `The query fails: ${failure}`
          : firing === 0
            ? 'Nothing fires at present.'
            : `${firing} ${firing === 1 ? 'instance fires' : 'instances fire'} at present.`}
      </p>
      <dl className="alert-outcome">
        {Object.entries(result).map(([receiver, outcome]) => (
          <div key={receiver}>
            <dt>{receiver}</dt>
            <dd>
              {outcome === 'sent' ? <Tag tone="ok">sent</Tag> : <span className="tone-bad">{outcome}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
