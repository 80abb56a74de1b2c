import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { SavedEndpoint } from '../../../../src/management/workbench-view.ts';
import type { ApiError } from '../../api/client.ts';
import type { EditorHandle, Fault } from '../../ui/editor/code-mirror.tsx';
import type { Vocabulary } from '../../ui/editor/completion.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import { Button, CopyButton, ErrorNote, QuietButton, Segmented } from '../../ui/page-part.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import type { FileFaults } from './use-check.ts';
import { type Base, type DefinitionKind, type Saving, type Texts, useStored, type Work } from './work.ts';

export interface Pane {
  readonly id: keyof Texts;
  readonly path: string;
  readonly language: 'sql' | 'yaml';
  readonly label: string;
  readonly note?: string;
  readonly words?: Vocabulary | undefined;
  readonly actions?: ReactNode;
}

interface PanesProps {
  readonly panes: readonly Pane[];
  readonly texts: Texts;
  readonly faults: FileFaults;
  readonly onEdit: (change: Partial<Texts>) => void;
  readonly onRun: () => void;
}

/** Editors of the texts, side by side or one at a time, and their faults, each a button that leads to its place. */
export function Panes({ panes, texts, faults, onEdit, onRun }: PanesProps) {
  const [shown, setShown] = useState(panes[0]?.id ?? 'definition');
  const labels = Object.fromEntries(
    panes.map(({ id, path }) => [id, faults[id].length === 0 ? path : `${path} (${faults[id].length})`]),
  );
  const editors = useRef<Partial<Record<keyof Texts, EditorHandle | null>>>({});
  const found = panes.flatMap(({ id, path }) => faults[id].map((fault) => ({ id, path, fault })));
  const show = (id: keyof Texts, fault: Fault) => {
    flushSync(() => setShown(id)); // a hidden editor takes no focus
    editors.current[id]?.goTo(fault);
  };
  return (
    <div className="bench-panes">
      {panes.length > 1 && (
        <div className="bench-choose">
          <Segmented<keyof Texts> label="File" options={labels} selected={shown} onSelect={setShown} />
        </div>
      )}
      {panes.map(({ id, path, language, label, note, words, actions }) => (
        <div key={id} className="bench-pane" data-file={id} data-shown={id === shown}>
          <div className="bench-pane-head">
            <h2>{path}</h2>
            <span className="row">
              {actions}
              <CopyButton text={texts[id]} />
            </span>
          </div>
          {note !== undefined && <p className="small muted">{note}</p>}
          <div className="bench-editor">
            <Editor
              ref={(editor) => {
                editors.current[id] = editor;
              }}
              {...{ language, label, words, onRun }}
              value={texts[id]}
              onChange={(text) => onEdit({ [id]: text })}
              faults={faults[id]}
            />
          </div>
        </div>
      ))}
      <div className="bench-faults">
        <div role="status" className="visually-hidden">
          {found.length === 0 ? '' : `${found.length} ${found.length === 1 ? 'fault' : 'faults'}`}
        </div>
        {found.length > 0 && (
          <ul aria-label="Faults">
            {found.map(({ id, path, fault }) => {
              const place = [path, fault.line, fault.column].filter(Boolean).join(':');
              return (
                <li key={`${place} ${fault.message}`}>
                  <button type="button" onClick={() => show(id, fault)}>
                    <code>{place}</code> {fault.message}
                  </button>
                </li>
              );
            })}
          </ul>
        )}
      </div>
    </div>
  );
}

interface SaveNotesProps {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly opened: Base;
  readonly work: Work;
  readonly saving: Pick<Saving, 'reset'> & { readonly error: ApiError | null };
  /** Why the service may not write files; null: it may. */
  readonly whyNotSaved: string | null;
  /** What is said of the last save; undefined: none, or there are changes since. */
  readonly saved: ReactNode;
  readonly error: ApiError | null;
  /** Saves the texts under another name; undefined: they cannot be. */
  readonly onCopy?: () => void;
}

/** Says that the texts under work were restored or saved, or could not be, and what differs if others have saved meanwhile. */
export function SaveNotes(props: SaveNotesProps) {
  const { kind, name, opened, work, saving, whyNotSaved, saved, onCopy } = props;
  const error = saving.error ?? props.error;
  const isConflict = error?.code === 'conflict';
  const { value: stored, error: unread } = useStored('conflict', kind, name, isConflict);
  const load = (base: Base) => {
    work.reset(base);
    saving.reset();
  };
  return (
    <>
      <div className="bench-notes" aria-live="polite">
        {whyNotSaved !== null && <div className="note is-info">Not saved here: {whyNotSaved}.</div>}
        {work.isRestored && error === null && (
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
              {stored !== undefined && <Button onClick={() => load(stored)}>Load theirs</Button>}
              {onCopy !== undefined && <Button onClick={onCopy}>Keep mine as a copy</Button>}
            </span>
          </div>
        )}
        {error !== null && !isConflict && <ErrorNote error={error} />}
        {/* The definition may have been removed. */}
        {unread !== undefined && unread.status !== 404 && <ErrorNote error={unread} />}
      </div>
      {/* The conflict may be with another one. */}
      {stored !== undefined && stored.version !== work.base.version && (
        <Differences name={kind === 'endpoints' ? 'endpoint' : name} {...{ stored, work }} />
      )}
    </>
  );
}

/** @param name that of the file of the definition */
function Differences({ name, stored, work }: Readonly<{ name: string; stored: Base; work: Work }>) {
  const paths = { definition: `${name}.yaml`, sql: 'query.sql' };
  const changed = (['definition', 'sql'] as const).filter((id) => stored[id] !== work.texts[id]);
  if (changed.length === 0) return <p className="muted">Yours are the same as theirs.</p>;
  return changed.map((id) => (
    <TextDiff key={id} label={paths[id]} theirs={stored[id]} mine={work.texts[id]} />
  ));
}

/** @param children what has been done before */
export function TestOutcome(props: Readonly<{ tests: SavedEndpoint['tests']; children: ReactNode }>) {
  const { tests, children } = props;
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
