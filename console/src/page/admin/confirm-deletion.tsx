import { useState } from 'react';
import type { DeletionView } from '../../../../src/management/view.ts';
import { formatCount } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import type { DeletionRequest } from './deletion.tsx';

interface ConfirmDeletionProps {
  readonly request: DeletionRequest;
  readonly counted: DeletionView;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onConfirm: (request: DeletionRequest) => void;
}

/** Asks for the name of the project: a deletion cannot be undone. */
export function ConfirmDeletion({ request, counted, busy, onClose, onConfirm }: ConfirmDeletionProps) {
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
