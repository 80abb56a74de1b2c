import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  /** It is closed by Escape, or by a button of its own. */
  readonly onClose: () => void;
  /** With more in it than a question. */
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Something that is to be answered first. The browser holds the focus in it, and gives it back to where it was. */
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
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // whoever shows it takes it away
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
