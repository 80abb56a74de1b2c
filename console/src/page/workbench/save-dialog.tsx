import { useState } from 'react';
import { Code } from '../../ui/code.tsx';
import { Form, FormActions, TextField } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
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
  const [draft, setDraft] = useState(name);
  const onSubmit = () => {
    if (draft.trim() !== '') save.saveAs(draft.trim());
  };
  return (
    <Dialog title="Save as an endpoint" onClose={onClose}>
      <Form className="stack" onSubmit={onSubmit}>
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

interface FilesDialogProps {
  readonly name: string;
  readonly files: Files;
  /** Empty: no file of tests. */
  readonly test: string;
  /** The reason why the service does not write them. */
  readonly refusal: string;
  readonly onClose: () => void;
}

/** The files, to be copied if this service may not write them. */
export function FilesDialog({ name, files, test, refusal, onClose }: FilesDialogProps) {
  const folder = `endpoints/${name || 'my.endpoint'}`;
  return (
    <Dialog title={test === '' ? 'Two files to copy' : 'Three files to copy'} onClose={onClose} wide>
      <p className="muted">Not saved here: {refusal}.</p>
      <Code text={files.definition} language="yaml" label={`${folder}/endpoint.yaml`} />
      <Code text={files.sql} language="sql" label={`${folder}/query.sql`} />
      {test !== '' && <Code text={test} language="yaml" label={`${folder}/tests/search.yaml`} />}
      <CloseAction onClose={onClose} />
    </Dialog>
  );
}
