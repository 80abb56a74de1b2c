import { type KeyboardEvent, useLayoutEffect, useRef } from 'react';
import './menu.css';

interface MenuProps {
  readonly label: string;
  readonly items: readonly { readonly label: string; readonly onSelect: () => void }[];
  /** The button that opened it. */
  readonly anchor: HTMLElement;
  readonly onClose: () => void;
}

/** A menu by the ARIA pattern at a button, above everything else: lists that scroll do not cut it. */
export function Menu({ label, items, anchor, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = menu;
    if (current === null) return;
    current.showPopover({ source: anchor });
    current.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [anchor]);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const now = all.findIndex((one) => one.matches(':focus'));
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: -1 }[event.key];
    event.stopPropagation(); // keys of the page mean something else
    if (event.key === 'Tab') menu.current?.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    all.at(to % all.length)?.focus();
  };
  return (
    <div
      ref={menu}
      className="menu-list"
      role="menu"
      aria-label={label}
      popover="auto"
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onToggle={(event) => {
        if (event.newState === 'closed') onClose();
      }}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            menu.current?.hidePopover(); // it returns the focus
            item.onSelect();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
