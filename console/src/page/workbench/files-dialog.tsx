import { CloseAction } from '../../ui/close-action.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import type { Files } from './api.ts';

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
