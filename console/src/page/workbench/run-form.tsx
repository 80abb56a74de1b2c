import type { ComponentProps } from 'react';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { ParameterFields } from '../endpoint/parameter-control.tsx';

interface RunFormProps extends ComponentProps<typeof ParameterFields> {
  readonly busy: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

/** The declared parameters as a form. */
export function RunForm({ busy, onRun, onStop, ...fields }: RunFormProps) {
  return (
    <Form className="bench-form" onSubmit={onRun} aria-label="Parameters">
      <ParameterFields {...fields} />
      <div className="bench-run">
        <Button type="submit" look="primary" aria-disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </Button>
        <Button disabled={!busy} onClick={onStop}>
          Stop
        </Button>
        <span className="small muted">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> in an editor
        </span>
      </div>
    </Form>
  );
}
