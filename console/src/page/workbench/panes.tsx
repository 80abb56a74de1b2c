import { type CSSProperties, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { WorkbenchView } from '../../../../src/management/view.ts';
import { usePreference } from '../../preference.ts';
import { QuietButton } from '../../ui/button.tsx';
import { type Vocabulary, withConditional } from '../../ui/editor/completion.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import type { Fault } from '../../ui/editor/mount.ts';
import { type Bounds, Resizer, remPixels } from '../../ui/resizer.tsx';
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
  const sizes = usePaneSizes();
  const show = (file: File, fault: Fault) => {
    flushSync(() => setShown(file)); // a hidden editor takes no focus
    (file === 'sql' ? sql : definition).current?.goTo(fault);
  };
  return (
    <div className="bench-panes" data-shown={shown} style={sizes.style}>
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
      <Resizer
        className="bench-edge"
        orientation="vertical"
        label="Width of query.sql in percent"
        size={sizes.of('width')}
        bounds={WIDTH}
        pixelsOf={percentPixels}
        onChange={sizes.changeTo('width')}
      />
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
      <Resizer
        className="bench-edge"
        orientation="horizontal"
        label="Height of the editors"
        size={sizes.of('height')}
        bounds={HEIGHT}
        pixelsOf={remPixels}
        onChange={sizes.changeTo('height')}
      />
      <Faults
        faults={FILES.flatMap((name) => faults[name].map((fault) => ({ name, file: PATHS[name], fault })))}
        onShow={({ name, fault }) => show(name, fault)}
      />
    </div>
  );
}

/** Pixels of a percent of the panes beside a bar. */
function percentPixels({ previousElementSibling: left, nextElementSibling: right }: HTMLElement): number {
  return ((left?.clientWidth ?? 0) + (right?.clientWidth ?? 0)) / 100;
}

function countOf(faults: readonly Fault[]): string {
  return faults.length === 0 ? '' : ` (${faults.length})`;
}

function useWords({ functions, tables }: WorkbenchView, definition: string): Vocabulary {
  const names = useMemo(() => withConditional(functions), [functions]);
  const { parameters } = useMemo(() => readOutline(definition), [definition]);
  return useMemo(() => ({ functions: names, tables, parameters }), [names, tables, parameters]);
}

declare module 'react' {
  interface CSSProperties {
    '--sql-width'?: string;
    '--definition-width'?: string;
    '--editor-height'?: string;
  }
}

/** The share of query.sql, in percent. */
const WIDTH: Bounds = { min: 20, max: 80 };
/** The height of both editors, in rem, so that it grows with the text. */
const HEIGHT: Bounds = { min: 8, max: 80 };

const FIRST_WIDTH = 55;
/** Parts of the window's height, and what they are bounded by. */
const FIRST_HEIGHT = { share: 0.29, min: 13, max: 34 };

type Edge = 'width' | 'height';

const NAMES: Readonly<Record<Edge, string>> = { width: 'workbench.width', height: 'workbench.height' };

interface PaneSizes {
  /** CSS of the grid of both editors. */
  readonly style: CSSProperties;
  of(edge: Edge): number;
  /** Returns what a bar calls: `isLast` keeps the size in this browser; `undefined` is the first size. */
  changeTo(edge: Edge): (size: number | undefined, isLast: boolean) => void;
}

/** The sizes of the editors in this browser. */
function usePaneSizes(): PaneSizes {
  const { preference, change } = usePreference();
  const [dragged, setDragged] = useState<Partial<Record<Edge, number>>>({});
  const sizeOf = (edge: Edge) => dragged[edge] ?? preference.panes[NAMES[edge]];
  const width = within(sizeOf('width') ?? FIRST_WIDTH, WIDTH);
  const height = within(sizeOf('height') ?? firstHeight(), HEIGHT);
  return {
    style: {
      '--sql-width': `${width}fr`,
      '--definition-width': `${100 - width}fr`,
      '--editor-height': `${height}rem`,
    },
    of: (edge) => ({ width, height })[edge],
    changeTo: (edge) => (size, isLast) => {
      setDragged(isLast || size === undefined ? {} : { [edge]: size });
      if (!isLast) return;
      const { [NAMES[edge]]: _, ...others } = preference.panes;
      change({ panes: size === undefined ? others : { ...others, [NAMES[edge]]: size } });
    },
  };
}

/** A stored size may be of another version. */
function within(size: number, { min, max }: Bounds): number {
  return Math.max(min, Math.min(max, size));
}

function firstHeight(): number {
  const { share, ...bounds } = FIRST_HEIGHT;
  return within((innerHeight * share) / remPixels(), bounds);
}
