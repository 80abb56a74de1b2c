import type { ReactNode } from 'react';
import type { SavedEndpoint } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import { useRun } from '../../api/queries.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { type DefinitionKind, filesPath, PATHS } from './api.ts';
import type { Base, WorkedFiles } from './use-files.ts';

interface SaveNotesProps {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly opened: Base;
  readonly work: WorkedFiles;
  /** What is said of the last save; undefined: none, or there are changes since. */
  readonly saved: ReactNode;
  /** Of the last save, or of a check. */
  readonly error: ApiError | undefined;
  /** Continues with the stored texts after a conflict. */
  readonly onLoad: () => void;
  /** Saves the texts under another name; undefined: they cannot be. */
  readonly onCopy?: () => void;
}

/** Says that the texts under work were restored or saved, or could not be, and what differs if others have saved meanwhile. */
export function SaveNotes(props: SaveNotesProps) {
  const { opened, work, saved, error, onLoad, onCopy } = props;
  const isConflict = error?.code === 'conflict';
  return (
    <>
      <div className="bench-notes" aria-live="polite">
        {work.isRestored && error === undefined && (
          <div className="note is-info bench-note">
            <span>
              These are your unsaved changes.
              {work.base.version !== opened.version && ' What is stored has changed since you began.'}
            </span>
            <QuietButton onClick={() => work.reset(opened)}>Discard them</QuietButton>
          </div>
        )}
        {!work.isKept && (
          <div className="note is-bad">
            The browser’s storage is full: a reload loses the changes. Save or copy them first.
          </div>
        )}
        {saved}
        {isConflict && (
          <div className="note is-bad bench-note">
            <span>
              <strong>Not saved.</strong> {error.message}
            </span>
            <span className="row">
              <Button onClick={onLoad}>Load theirs</Button>
              {onCopy !== undefined && <Button onClick={onCopy}>Keep mine as a copy</Button>}
            </span>
          </div>
        )}
        {error !== undefined && !isConflict && <ErrorNote error={error} />}
      </div>
      {isConflict && <Conflict {...props} />}
    </>
  );
}

/** What differs between the stored texts and those under work, if the stored ones have changed. */
function Conflict({ kind, name, work }: SaveNotesProps) {
  const path = filesPath(kind, name);
  const run = useRun({
    key: ['conflict', path],
    read: (client, signal) =>
      client.call<Omit<Base, 'sql'> & { sql?: string }>(path, ['definition'], { signal }),
  });
  // The definition may have been removed, or the conflict may be with another one.
  if (run.state === 'failed') return run.error.status === 404 ? null : <ErrorNote error={run.error} />;
  if (run.state !== 'done') return <p className="muted">Reading theirs…</p>;
  const { definition, sql = '', version } = run.value;
  if (version === work.base.version) return null;
  const files = kind === 'endpoints' ? PATHS : { sql: '', definition: `${name}.yaml` };
  const theirs = { definition, sql };
  const changed = (['definition', 'sql'] as const).filter((one) => theirs[one] !== work.files[one]);
  return (
    <>
      {changed.length === 0 && <p className="muted">Yours are the same as theirs.</p>}
      {changed.map((one) => (
        <TextDiff
          key={one}
          label={files[one]}
          before={{ name: 'theirs', text: theirs[one] }}
          after={{ name: 'mine', text: work.files[one] }}
        />
      ))}
    </>
  );
}

interface TestOutcomeProps {
  readonly tests: SavedEndpoint['tests'];
  /** What has been done before. */
  readonly children: ReactNode;
}

/** Says which tests of an endpoint failed. */
export function TestOutcome({ tests, children }: TestOutcomeProps) {
  const failed = tests.filter(({ passed }) => !passed);
  const outcome =
    tests.length === 0
      ? 'It has no tests.'
      : failed.length === 0
        ? `${tests.length === 1 ? 'Its test' : `All ${tests.length} tests`} passed.`
        : `${failed.length} of ${tests.length} tests failed:`;
  return (
    <div className={failed.length === 0 ? 'note is-info' : 'note is-bad'}>
      <span>
        {children} {outcome}
      </span>
      {failed.length > 0 && (
        <ul>
          {failed.map((test) => (
            <li key={test.name}>
              <strong>{test.name}</strong>
              <pre className="test-message">{test.message}</pre>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
