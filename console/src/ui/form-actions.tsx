import { Button } from './button.tsx';

interface FormActionsProps {
  /** The label of the submit button, idle and while it is running. */
  readonly submit: string;
  readonly submitting: string;
  readonly busy: boolean;
  readonly onCancel: () => void;
}

/** The end of a form in a dialog. */
export function FormActions({ submit, submitting, busy, onCancel }: FormActionsProps) {
  return (
    <div className="dialog-actions">
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" look="primary" disabled={busy}>
        {busy ? submitting : submit}
      </Button>
    </div>
  );
}
