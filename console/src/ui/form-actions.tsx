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
      <button type="button" className="button" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" className="button is-primary" disabled={busy}>
        {busy ? submitting : submit}
      </button>
    </div>
  );
}
