import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { NO_WORDS, type Vocabulary } from './completion.ts';
import './editor.css';
import type { Fault, MountedEditor } from './mount.ts';

interface EditorProps {
  readonly language: 'sql' | 'yaml';
  /** The accessible name. */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onRun: () => void;
  readonly faults?: readonly Fault[];
  readonly words?: Vocabulary | undefined;
  readonly ref?: Ref<Pick<MountedEditor, 'goTo'>>;
}

const NO_FAULTS: readonly Fault[] = [];

/** An editor of code. CodeMirror is loaded with the first one; a plain field takes its place if it cannot be loaded. */
export function Editor(props: EditorProps) {
  const { language, label, value, faults = NO_FAULTS, words = NO_WORDS, ref } = props;
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [editor, setEditor] = useState<MountedEditor>();
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    let isGone = false;
    let mounted: MountedEditor | undefined;
    const mount = async () => {
      const { mountEditor } = await import('./mount.ts');
      if (isGone || host.current === null) return;
      mounted = mountEditor(host.current, {
        language,
        label,
        text: latest.current.value,
        // At once: a value that is rendered later would undo what was typed since.
        onChange: (text) => flushSync(() => latest.current.onChange(text)),
        onRun: () => latest.current.onRun(),
      });
      setEditor(mounted);
    };
    mount().catch(() => setFailed(true));
    return () => {
      isGone = true;
      mounted?.destroy();
    };
  }, [language, label]);

  useLayoutEffect(() => editor?.setText(value), [editor, value]);
  useEffect(() => editor?.setVocabulary(words), [editor, words]);
  useEffect(() => editor?.setFaults(faults), [editor, faults]);
  useImperativeHandle(ref, () => ({ goTo: (fault) => editor?.goTo(fault) }), [editor]);

  if (failed) {
    return (
      <textarea
        className="input editor-plain"
        aria-label={label}
        value={value}
        spellCheck={false}
        onChange={(event) => props.onChange(event.target.value)}
      />
    );
  }
  return (
    <div className="editor" ref={host} aria-busy={editor === undefined}>
      {editor === undefined && <pre className="editor-plain">{value}</pre>}
    </div>
  );
}
