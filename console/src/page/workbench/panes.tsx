import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { WorkbenchView } from '../../../../src/management/view.ts';
import { QuietButton } from '../../ui/button.tsx';
import { type Vocabulary, withConditional } from '../../ui/editor/completion.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import type { Fault } from '../../ui/editor/mount.ts';
import { Segmented } from '../../ui/tabs.tsx';
import { FILES, type FileFaults, type Files, PATHS } from './api.ts';
import { readOutline } from './definition.ts';
import { Faults } from './faults.tsx';

type File = keyof Files;

interface PanesProps {
  readonly workbench: WorkbenchView;
  readonly files: Files;
  readonly faults: FileFaults;
  readonly onEdit: (change: Partial<Files>) => void;
  readonly onRun: () => void;
  /** Writes the columns of the query into the definition; undefined while they are unknown. */
  readonly onUseColumns: (() => void) | undefined;
}

/** Both editors, side by side or one at a time, and the faults of their texts. */
export function Panes({ workbench, files, faults, onEdit, onRun, onUseColumns }: PanesProps) {
  const [shown, setShown] = useState<File>('sql');
  const sql = useRef<{ goTo(fault: Fault): void }>(null);
  const definition = useRef<{ goTo(fault: Fault): void }>(null);
  const words = useWords(workbench, files.definition);
  const show = (file: File, fault: Fault) => {
    flushSync(() => setShown(file)); // a hidden editor takes no focus
    (file === 'sql' ? sql : definition).current?.goTo(fault);
  };
  return (
    <div className="bench-panes" data-shown={shown}>
      <div className="bench-choose">
        <Segmented
          label="File"
          options={FILES.map((id) => ({ id, label: PATHS[id] + countOf(faults[id]) }))}
          selected={shown}
          onSelect={setShown}
        />
      </div>
      <div className="bench-pane" data-file="sql">
        <div className="bench-pane-head">
          <h2>query.sql</h2>
        </div>
        <div className="bench-editor">
          <Editor
            ref={sql}
            language="sql"
            label="SQL of the query"
            value={files.sql}
            onChange={(text) => onEdit({ sql: text })}
            onRun={onRun}
            faults={faults.sql}
            words={words}
          />
        </div>
      </div>
      <div className="bench-pane" data-file="definition">
        <div className="bench-pane-head">
          <h2>endpoint.yaml</h2>
          <QuietButton disabled={onUseColumns === undefined} onClick={onUseColumns}>
            Use the columns of the query
          </QuietButton>
        </div>
        <div className="bench-editor">
          <Editor
            ref={definition}
            language="yaml"
            label="Definition of the endpoint"
            value={files.definition}
            onChange={(text) => onEdit({ definition: text })}
            onRun={onRun}
            faults={faults.definition}
          />
        </div>
      </div>
      <Faults
        faults={FILES.flatMap((name) => faults[name].map((fault) => ({ name, file: PATHS[name], fault })))}
        onShow={({ name, fault }) => show(name, fault)}
      />
    </div>
  );
}

function countOf(faults: readonly Fault[]): string {
  return faults.length === 0 ? '' : ` (${faults.length})`;
}

function useWords({ functions, tables }: WorkbenchView, definition: string): Vocabulary {
  const names = useMemo(() => withConditional(functions), [functions]);
  const { parameters } = useMemo(() => readOutline(definition), [definition]);
  return useMemo(() => ({ functions: names, tables, parameters }), [names, tables, parameters]);
}
