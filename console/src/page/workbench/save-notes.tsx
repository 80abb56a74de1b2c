import type { ReactNode } from 'react';
import type { SavedEndpoint } from '../../../../src/management/view.ts';
import type { ApiError, Client } from '../../api/client.ts';
import { useRun } from '../../api/queries.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { byFile, filesPath, readFiles } from './api.ts';
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
          <RestoredNote isOther={work.base.version !== opened.version} onDiscard={() => work.reset(opened)} />
        )}
        {!work.isKept && (
          <div className="note is-bad">
            The browser’s storage is full: a reload loses the changes. Save or copy them first.
          </div>
        )}
        {saving.state === 'saved' && <SavedNote saved={saving.saved} />}
        {saving.state === 'conflict' && !isAsking && (
          <ConflictNote error={saving.error}>
            <Button onClick={save.loadStored}>Load theirs</Button>
            <Button onClick={() => save.ask(true)}>Keep mine as a copy</Button>
          </ConflictNote>
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

interface RestoredNoteProps {
  /** Whether the files have changed meanwhile. */
  readonly isOther: boolean;
  readonly onDiscard: () => void;
}

/** Says that the texts are those of an earlier visit. */
export function RestoredNote({ isOther, onDiscard }: RestoredNoteProps) {
  return (
    <div className="note is-info bench-note">
      <span>
        These are your unsaved changes.
        {isOther && ' What is stored has changed since you began.'}
      </span>
      <QuietButton onClick={onDiscard}>Discard them</QuietButton>
    </div>
  );
}

interface ConflictNoteProps {
  readonly error: ApiError | undefined;
  /** What can be done. */
  readonly children: ReactNode;
}

/** Says that another one has saved meanwhile. */
export function ConflictNote({ error, children }: ConflictNoteProps) {
  return (
    <div className="note is-bad bench-note">
      <span>
        <strong>Not saved.</strong> {error?.message}
      </span>
      <span className="row">{children}</span>
    </div>
  );
}

function SavedNote({ saved: { name, tests } }: { readonly saved: SavedEndpoint }) {
  return (
    <TestOutcome tests={tests}>
      Saved as <code>{name}</code>.
    </TestOutcome>
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

/** The stored texts by file name. */
interface Stored {
  readonly version: string | null;
  readonly texts: Readonly<Record<string, string>>;
}

interface ConflictProps {
  /** Path of the stored texts. */
  readonly path: string;
  /** The version that the work started from; null: a new definition. */
  readonly version: string | null;
  /** The texts under work by file name. */
  readonly mine: Stored['texts'];
  /** @throws ApiError */
  readonly read: (client: Client, signal: AbortSignal) => Promise<Stored>;
}

/** What differs between the stored texts and those under work, if the stored ones have changed. */
export function Conflict({ path, version, mine, read }: ConflictProps) {
  const run = useRun({ key: ['conflict', path], read });
  // The definition may have been removed, or the conflict may be with another one.
  if (run.state === 'failed') return run.error.status === 404 ? null : <ErrorNote error={run.error} />;
  if (run.state !== 'done') return <p className="muted">Reading theirs…</p>;
  const { texts, version: stored } = run.value;
  if (stored === version) return null;
  const changed = Object.entries(texts).filter(([file, text]) => mine[file] !== text);
  return (
    <>
      {changed.length === 0 && <p className="muted">Yours are the same as theirs.</p>}
      {changed.map(([file, text]) => (
        <TextDiff
          key={file}
          label={file}
          before={{ name: 'theirs', text }}
          after={{ name: 'mine', text: mine[file] ?? '' }}
        />
      ))}
    </>
  );
}
