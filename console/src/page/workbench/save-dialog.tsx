import { type FormEvent, useId, useState } from 'react';
import { Code } from '../../ui/code.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field } from '../../ui/field.tsx';
import { FormActions } from '../../ui/form-actions.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import type { Files } from './api.ts';
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

interface FilesDialogProps {
  readonly name: string;
  readonly files: Files;
  /** The reason why the service does not write them. */
  readonly refusal: string;
  readonly onClose: () => void;
}

/** The two files, to be copied if this service may not write them. */
export function FilesDialog({ name, files, refusal, onClose }: FilesDialogProps) {
  const folder = `endpoints/${name || 'my.endpoint'}`;
  return (
    <Dialog title="Two files to copy" onClose={onClose} wide>
      <p className="muted">Not saved here: {refusal}.</p>
      <Code text={files.definition} language="yaml" label={`${folder}/endpoint.yaml`} />
      <Code text={files.sql} language="sql" label={`${folder}/query.sql`} />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
