import { Suspense } from 'react';
import { lazyPart } from '../boundary/boundary.tsx';
import type { EditorProps } from './code-mirror.tsx';
import './editor.css';

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
