import { type ReactNode, useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import './popover.css';

interface PopoverProps {
  /** Content of the button. */
  readonly label: ReactNode;
  /** Name of the panel. */
  readonly title: string;
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a panel below it. Escape, a click elsewhere or leaving it with Tab closes it. */
export function Popover({ label, title, children }: PopoverProps) {
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
      <button
        ref={button}
        type="button"
        className="button"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && (
        <PopoverPanel id={id} title={title}>
          {children(close)}
        </PopoverPanel>
      )}
    </div>
  );
}

const MARGIN_PX = 8;

interface PanelProps {
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
}

function PopoverPanel({ id, title, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = panel;
    if (current === null) return;
    // Aligned with the button, but never beyond the window's right edge.
    const place = () => {
      current.style.translate = '0';
      const { right } = current.getBoundingClientRect();
      const beyond = right + MARGIN_PX - document.documentElement.clientWidth;
      current.style.translate = `${-Math.max(0, beyond)}px`;
    };
    place();
    addEventListener('resize', place);
    const first = current.querySelector<HTMLElement>('button:enabled, input:enabled');
    (first ?? current).focus({ preventScroll: true });
    return () => removeEventListener('resize', place);
  }, []);
  return (
    <div ref={panel} id={id} className="popover-panel" role="dialog" aria-label={title} tabIndex={-1}>
      {children}
    </div>
  );
}
