import { type Ref, Suspense } from 'react';
import { lazyPart } from '../boundary/boundary.tsx';
import type { Vocabulary } from './completion.ts';
import './editor.css';

export interface EditorProps {
  readonly language: 'sql' | 'yaml';
  /** The accessible name. */
  readonly label: string;
  readonly value: string;
  /** Called with the text after each change by the user. */
  readonly onChange: (value: string) => void;
  /** Called on Ctrl+Enter, Cmd+Enter on a Mac. */
  readonly onRun: () => void;
  readonly faults?: readonly Fault[];
  readonly words?: Vocabulary | undefined;
  readonly ref?: Ref<EditorHandle>;
}

export interface EditorHandle {
  /** Moves the cursor to a fault and the focus into the editor. */
  goTo(fault: Fault): void;
}

/** A fault of a text. */
export interface Fault {
  readonly message: string;
  /** From 1; without one the fault concerns the whole text. */
  readonly line?: number | undefined;
  /** From 1; without one the fault concerns the whole line. */
  readonly column?: number | undefined;
}

const CodeMirror = lazyPart<EditorProps>(async () => (await import('./code-mirror.tsx')).CodeMirror);

/** An editor of code. CodeMirror is loaded with the first one. */
export function Editor(props: EditorProps) {
  const loading = (
    <div className="editor" aria-busy>
      <pre className="editor-plain">{props.value}</pre>
    </div>
  );
  return (
    <Suspense fallback={loading}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
