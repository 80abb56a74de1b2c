import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from '../button.tsx';
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

/** The end of a dialog that only shows something. */
export function CloseAction({ onClose }: { readonly onClose: () => void }) {
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}
