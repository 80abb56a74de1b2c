import { type FormEvent, useId, useState } from 'react';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field } from '../../ui/field.tsx';
import { FormActions } from '../../ui/form-actions.tsx';
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
  const id = useId();
  const [draft, setDraft] = useState(name);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (draft.trim() !== '') save.saveAs(draft.trim());
  };
  return (
    <Dialog title="Save as an endpoint" onClose={onClose}>
      <form className="bench-name" onSubmit={onSubmit} noValidate>
        <Field
          id={id}
          label="Name"
          help="Words of a-z, 0-9, - and _, joined by dots. It is written into endpoint.yaml, and names the folder."
          fault={saving.state === 'conflict' ? saving.error.message : undefined}
        >
          <input
            id={id}
            className="input"
            aria-describedby={`${id}-help`}
            value={draft}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setDraft(event.target.value)}
          />
        </Field>
        {saving.state === 'failed' && <ErrorNote error={saving.error} />}
        <FormActions submit="Save" submitting="Saving…" busy={saving.state === 'busy'} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
