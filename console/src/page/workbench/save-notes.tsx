import type { SavedEndpoint } from '../../../../src/management/view.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { Base, WorkedFiles } from './use-files.ts';
import type { Saving } from './use-save.ts';

interface SaveNotesProps {
  readonly opened: Base;
  readonly work: WorkedFiles;
  readonly save: Saving;
}

/** Says that the texts under work were restored or saved, or could not be. */
export function SaveNotes({ opened, work, save }: SaveNotesProps) {
  const { saving, isAsking } = save;
  return (
    <div className="bench-notes" aria-live="polite">
      {work.isRestored && saving.state === 'idle' && (
        <div className="note info bench-note">
          <span>
            These are your unsaved changes.
            {work.base.version !== opened.version && ' The files have changed since you began.'}
          </span>
          <button type="button" className="button quiet" onClick={() => work.reset(opened)}>
            Discard them
          </button>
        </div>
      )}
      {!work.isKept && (
        <div className="note bad">
          The browser’s storage is full: a reload loses the changes. Save or copy them first.
        </div>
      )}
      {saving.state === 'saved' && <SavedNote saved={saving.saved} />}
      {saving.state === 'conflict' && !isAsking && (
        <div className="note bad bench-note">
          <span>
            <strong>Not saved.</strong> {saving.error.message}
          </span>
          <span className="bench-choices">
            <button type="button" className="button" onClick={save.loadStored}>
              Load theirs
            </button>
            <button type="button" className="button" onClick={() => save.ask(true)}>
              Keep mine as a copy
            </button>
          </span>
        </div>
      )}
      {saving.state === 'failed' && !isAsking && <ErrorNote error={saving.error} />}
    </div>
  );
}

function SavedNote({ saved: { name, tests } }: { readonly saved: SavedEndpoint }) {
  const failed = tests.filter(({ passed }) => !passed);
  const outcome =
    tests.length === 0
      ? 'It has no tests.'
      : failed.length === 0
        ? `${tests.length === 1 ? 'Its test' : `All ${tests.length} tests`} passed.`
        : `${failed.length} of ${tests.length} tests failed:`;
  return (
    <div className={failed.length === 0 ? 'note info' : 'note bad'}>
      <span>
        Saved as <code>{name}</code>. {outcome}
      </span>
      {failed.length > 0 && (
        <ul>
          {failed.map((test) => (
            <li key={test.name}>
              <strong>{test.name}</strong>
              <pre>{test.message}</pre>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
