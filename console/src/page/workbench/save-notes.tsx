import type { SavedEndpoint } from '../../../../src/management/view.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { byFile, filesPath, readFiles } from './api.ts';
import { Conflict } from './conflict.tsx';
import { TestOutcome } from './test-outcome.tsx';
import type { Base, WorkedFiles } from './use-files.ts';
import type { Saving } from './use-save.ts';

interface SaveNotesProps {
  readonly name: string;
  readonly opened: Base;
  readonly work: WorkedFiles;
  readonly save: Saving;
}

/** Says that the texts under work were restored or saved, or could not be. */
export function SaveNotes({ name, opened, work, save }: SaveNotesProps) {
  const { saving, isAsking } = save;
  return (
    <>
      <div className="bench-notes" aria-live="polite">
        {work.isRestored && saving.state === 'idle' && (
          <div className="note is-info bench-note">
            <span>
              These are your unsaved changes.
              {work.base.version !== opened.version && ' The files have changed since you began.'}
            </span>
            <QuietButton onClick={() => work.reset(opened)}>Discard them</QuietButton>
          </div>
        )}
        {!work.isKept && (
          <div className="note is-bad">
            The browser’s storage is full: a reload loses the changes. Save or copy them first.
          </div>
        )}
        {saving.state === 'saved' && <SavedNote saved={saving.saved} />}
        {saving.state === 'conflict' && !isAsking && (
          <div className="note is-bad bench-note">
            <span>
              <strong>Not saved.</strong> {saving.error.message}
            </span>
            <span className="bench-choices">
              <Button onClick={save.loadStored}>Load theirs</Button>
              <Button onClick={() => save.ask(true)}>Keep mine as a copy</Button>
            </span>
          </div>
        )}
        {saving.state === 'failed' && !isAsking && <ErrorNote error={saving.error} />}
      </div>
      {saving.state === 'conflict' && !isAsking && (
        <Conflict
          path={filesPath('endpoints', name)}
          version={work.base.version}
          mine={byFile(work.files)}
          read={async (client, signal) => {
            const theirs = await readFiles(client, name, signal);
            return { version: theirs.version, texts: byFile(theirs) };
          }}
        />
      )}
    </>
  );
}

function SavedNote({ saved: { name, tests } }: { readonly saved: SavedEndpoint }) {
  return (
    <TestOutcome tests={tests}>
      Saved as <code>{name}</code>.
    </TestOutcome>
  );
}
