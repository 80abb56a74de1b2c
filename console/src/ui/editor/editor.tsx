import { lazyPart } from '../boundary/boundary.tsx';
import type { EditorProps } from './code-mirror.tsx';
import './editor.css';

/** An editor of code. CodeMirror is loaded with the first one. */
export const Editor = lazyPart<EditorProps>(
  async () => (await import('./code-mirror.tsx')).CodeMirror,
  ({ value }) => (
    <div className="editor" aria-busy>
      <pre className="editor-plain">{value}</pre>
    </div>
  ),
);
