import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import type { CreatedKeyView, KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { describedBy, Field } from '../../ui/field.tsx';
import { FormActions } from '../../ui/form-actions.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { faultOf } from './draft.ts';

interface RotateDialogProps {
  readonly record: KeyView;
  readonly onClose: () => void;
  readonly onMade: (made: CreatedKeyView) => void;
}

const OVERLAPS = [
  ['0', 'no overlap: ends at once'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;
const OVERLAP = '604800';

/** Creates a successor with the same rights; the old key stays valid for a while. */
export function RotateDialog({ record, onClose, onMade }: RotateDialogProps) {
  const id = useId();
  const client = useClient();
  const [overlap, setOverlap] = useState(OVERLAP);
  const { mutate, isPending, ...made } = useMutation({
    mutationFn: () =>
      client.call<CreatedKeyView>(`/api/keys/${record.id}/rotate`, ['key', 'id'], {
        method: 'POST',
        body: { overlap_seconds: Number(overlap) },
      }),
    onSuccess: onMade,
  });
  const error = made.error ?? undefined;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog title={`Rotate ${record.name}`} onClose={onClose}>
      <p>Creates a new key with the same rights. Give it to the caller before the old one ends.</p>
      <form className="key-form" onSubmit={onSubmit}>
        <Field
          id={id}
          label="The old key stays valid for"
          fault={faultOf(error, 'overlap_seconds')}
          {...(record.expires_at !== null && {
            help: 'At most until its expiry, which is also that of the new key.',
          })}
        >
          <select
            id={id}
            className="input"
            aria-describedby={describedBy(id)}
            value={overlap}
            onChange={(event) => setOverlap(event.target.value)}
          >
            {OVERLAPS.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        {error !== undefined && <ErrorNote error={error} />}
        <FormActions submit="Create the new key" submitting="Rotating…" busy={isPending} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
