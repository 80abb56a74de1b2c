import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import type { ApiError } from '../../api/client.ts';
import { Form } from '../form.tsx';
import { Button, ErrorNote } from '../page-part.tsx';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  /** Called on Escape. */
  readonly onClose: () => void;
  /** For content beyond a question. */
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A modal dialog. The browser traps the focus and restores it. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog is-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // the parent closes it
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface FormDialogProps extends DialogProps {
  /** The label of the submit button, idle and while it is running. */
  readonly submit: readonly [idle: string, running: string];
  readonly look?: 'primary' | 'danger';
  readonly className?: string;
  readonly sending: {
    readonly mutate: (data: FormData) => void;
    readonly isPending: boolean;
    readonly error: ApiError | null;
  };
}

/** A dialog that is a form. Its first button, which changes nothing, has the focus if no field takes it. */
export function FormDialog(props: FormDialogProps) {
  const { submit, look = 'primary', className = '', sending, children, ...dialog } = props;
  const { mutate, isPending, error } = sending;
  return (
    <Dialog {...dialog}>
      <Form className={`stack ${className}`.trim()} error={error} onSubmit={mutate}>
        {children}
        {error !== null && <ErrorNote error={error} />}
        <div className="dialog-actions">
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button type="submit" look={look} disabled={isPending}>
            {submit[isPending ? 1 : 0]}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** The end of a dialog that only shows something. */
export function CloseAction({ onClose }: { readonly onClose: () => void }) {
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}
