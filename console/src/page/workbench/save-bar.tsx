import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Form, FormActions, TextField } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
import type { Files } from './api.ts';
import type { Outline } from './definition.ts';
import type { Saving } from './use-save.ts';

interface SaveBarProps {
  /** Empty: a new endpoint. */
  readonly name: string;
  /** Why the service may not write files; null: it may. */
  readonly refusal: string | null;
  /** The texts with what the definition lacked. */
  readonly files: Files;
  /** The file of tests of a new endpoint; empty: none. */
  readonly test: string;
  readonly isChanged: boolean;
  readonly outline: Outline;
  readonly save: Saving;
}

/** Saves, under the name or another one; shows the files if the service may not write them. */
export function SaveBar({ name, refusal, files, test, isChanged, outline, save }: SaveBarProps) {
  const [isShown, setShown] = useState(false);
  const busy = save.saving.state === 'busy';
  if (refusal !== null) {
    return (
      <div className="bench-save">
        <Button onClick={() => setShown(true)}>Copy the files</Button>
        {isShown && (
          <FilesDialog
            name={outline.name || name}
            {...{ files, test, refusal }}
            onClose={() => setShown(false)}
          />
        )}
      </div>
    );
  }
  return (
    <div className="bench-save">
      {name !== '' && (
        <Button disabled={!isChanged || busy} onClick={save.save}>
          {busy ? 'Saving…' : 'Save'}
        </Button>
      )}
      <Button onClick={() => save.ask(true)}>Save as…</Button>
      {save.isAsking && <SaveDialog name={name === '' ? outline.name : `${name}-copy`} save={save} />}
    </div>
  );
}

interface SaveDialogProps {
  /** The suggested name. */
  readonly name: string;
  readonly save: Saving;
}

/** The question for the name of a new endpoint. */
function SaveDialog({ name, save }: SaveDialogProps) {
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
function FilesDialog({ name, files, test, refusal, onClose }: FilesDialogProps) {
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
