import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { CreatedKeyView, KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ChoiceField, Form, FormActions } from '../../ui/form.tsx';
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
const OVERLAP: string = '604800';

/** Creates a successor with the same rights; the old key stays valid for a while. */
export function RotateDialog({ record, onClose, onMade }: RotateDialogProps) {
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
  return (
    <Dialog title={`Rotate ${record.name}`} onClose={onClose}>
      <p>Creates a new key with the same rights. Give it to the caller before the old one ends.</p>
      <Form className="key-form" error={error} onSubmit={mutate}>
        <ChoiceField
          label="The old key stays valid for"
          help={record.expires_at !== null && 'At most until its expiry, which is also that of the new key.'}
          fault={faultOf(error, 'overlap_seconds')}
          value={overlap}
          options={OVERLAPS}
          onChange={setOverlap}
        />
        {error !== undefined && <ErrorNote error={error} />}
        <FormActions submit="Create the new key" submitting="Rotating…" busy={isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
