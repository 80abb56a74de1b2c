import { type ReactNode, useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
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

/** A button that opens a panel below it. Escape, a click elsewhere or leaving it with Tab closes it. */
export function Popover({ label, title, isChoice = false, children }: PopoverProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = useCallback(() => {
    setOpen(false);
    button.current?.focus();
  }, []);
  useEffect(() => {
    const { current } = root;
    if (!open || current === null) return;
    const ending = new AbortController();
    const { signal } = ending;
    const closeOutside = (target: EventTarget | null) => {
      if (target instanceof Node && !current.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', ({ target }) => closeOutside(target), { signal });
    current.addEventListener('focusout', ({ relatedTarget }) => closeOutside(relatedTarget), { signal });
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') close();
    };
    current.addEventListener('keydown', onKeyDown, { signal });
    return () => ending.abort();
  }, [open, close]);
  return (
    <div className="popover" ref={root}>
      <Button
        ref={button}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {isChoice && <span className="visually-hidden">{title}: </span>}
        {label}
        {isChoice && <span className="popover-caret" aria-hidden="true" />}
      </Button>
      {open && (
        <PopoverPanel id={id} title={title}>
          {children(close)}
        </PopoverPanel>
      )}
    </div>
  );
}

const MARGIN_PX = 8;

function PopoverPanel({ id, title, children }: Readonly<{ id: string; title: string; children: ReactNode }>) {
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = panel;
    if (current === null) return;
    // Below the button, aligned with its left edge, or with its right edge if the window ends before.
    const place = () => {
      current.style.translate = '0';
      const { left, right, width } = current.getBoundingClientRect();
      if (right + MARGIN_PX <= document.documentElement.clientWidth) return;
      const end = current.parentElement?.getBoundingClientRect().right ?? 0;
      current.style.translate = `${Math.max(MARGIN_PX, end - width) - left}px`;
    };
    place();
    addEventListener('resize', place);
    const first =
      current.querySelector<HTMLElement>('[data-first-focus]') ?? current.querySelector('button:enabled');
    (first instanceof HTMLElement ? first : current).focus({ preventScroll: true });
    return () => removeEventListener('resize', place);
  }, []);
  return (
    // Long content scrolls, by keyboard too.
    <div ref={panel} id={id} className="popover-panel" role="dialog" aria-label={title} tabIndex={0}>
      {children}
    </div>
  );
}
