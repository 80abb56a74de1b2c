import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { CopyButton } from '../../ui/button.tsx';
import type { EditorHandle, Fault } from '../../ui/editor/code-mirror.tsx';
import type { Vocabulary } from '../../ui/editor/completion.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import { Segmented } from '../../ui/tabs.tsx';
import type { FileFaults } from './use-check.ts';
import type { Texts } from './work.ts';

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
