import { useState } from 'react';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Form, FormActions, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import type { Saving } from './use-save.ts';

interface SaveDialogProps {
  /** The suggested name. */
  readonly name: string;
  readonly save: Saving;
}

/** The question for the name of a new endpoint. */
export function SaveDialog({ name, save }: SaveDialogProps) {
  const { saving } = save;
  const onClose = () => save.ask(false);
  const [draft, setDraft] = useState(name);
  const onSubmit = () => {
    if (draft.trim() !== '') save.saveAs(draft.trim());
  };
  return (
    <Dialog title="Save as an endpoint" onClose={onClose}>
      <Form className="bench-name" onSubmit={onSubmit}>
        <TextField
          label="Name"
          help="Words of a-z, 0-9, - and _, joined by dots. It is written into endpoint.yaml, and names the folder."
          fault={saving.state === 'conflict' ? saving.error.message : undefined}
          value={draft}
          onChange={setDraft}
        />
        {saving.state === 'failed' && <ErrorNote error={saving.error} />}
        <FormActions submit="Save" submitting="Saving…" busy={saving.state === 'busy'} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
