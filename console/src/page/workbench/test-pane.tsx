import { Editor } from '../../ui/editor/editor.tsx';

interface TestPaneProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The file of tests that is saved with a new endpoint. */
export function TestPane({ value, onChange, onRun }: TestPaneProps) {
  return (
    <details className="bench-test">
      <summary>tests/search.yaml: a test of events that the search found</summary>
      <p className="muted small">
        The events are saved as they are: change what must not be in a file, or clear the text to save no
        test.
      </p>
      <div className="bench-editor">
        <Editor
          language="yaml"
          label="Test of the endpoint"
          value={value}
          onChange={onChange}
          onRun={onRun}
          faults={[]}
        />
      </div>
    </details>
  );
}
