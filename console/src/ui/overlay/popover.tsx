import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../page-part.tsx';
import './popover.css';

interface PopoverProps {
  readonly label: ReactNode;
  readonly title: string;
  /** Whether the label is what was chosen in the panel. */
  readonly isChoice?: boolean;
  /** An element with `data-first-focus` gets the focus, else the first button. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a panel at it. The browser closes it on Escape or a click elsewhere; leaving it with Tab does, too. */
export function Popover({ label, title, isChoice = false, children }: PopoverProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  const close = () => panel.current?.hidePopover(); // it returns the focus
  useLayoutEffect(() => {
    const { current } = panel;
    if (!isOpen || current === null) return;
    const first = current.querySelector<HTMLElement>('[data-first-focus], button:enabled');
    (first ?? current).focus({ preventScroll: true });
  }, [isOpen]);
  return (
    <div className="popover">
      <Button aria-haspopup="dialog" popoverTarget={id}>
        {isChoice && <span className="visually-hidden">{title}: </span>}
        {label}
        {isChoice && <span className="popover-caret" aria-hidden="true" />}
      </Button>
      <div
        ref={panel}
        id={id}
        className="popover-panel"
        role="dialog"
        aria-label={title}
        popover="auto"
        tabIndex={0} // long content scrolls, by keyboard too
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (relatedTarget !== null && !currentTarget.parentElement?.contains(relatedTarget)) close();
        }}
      >
        {isOpen && children(close)}
      </div>
    </div>
  );
}
