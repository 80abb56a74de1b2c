import { useEffect, useEffectEvent } from 'react';

/** Fields that letters or Escape mean something to; a choice between buttons or options is not one. */
const FIELDS =
  'input:not([type=radio], [type=checkbox], [type=button], [type=submit]), textarea, select, [contenteditable=true]';

/** What is over the page, which has its own keys. */
const OVER = 'dialog, [role=dialog], [popover]';

/** The element that a key is typed into, also within a shadow root, as an editor has one. */
function targetOf(event: KeyboardEvent): HTMLElement | undefined {
  const [target] = event.composedPath();
  return target instanceof HTMLElement ? target : undefined;
}

/** Whether a key is not one of the page: it is typed into a field, or into what is over the page. */
export function isElsewhere(event: KeyboardEvent): boolean {
  const target = targetOf(event);
  if (event.ctrlKey || event.metaKey || event.altKey || target === undefined) return true;
  return target.closest(`${FIELDS}, [role=application], ${OVER}`) !== null;
}

/** Calls back on each key, wherever the focus is. */
export function useKeyDown(listener: (event: KeyboardEvent) => void): void {
  const onKeyDown = useEffectEvent(listener);
  useEffect(() => {
    const latest = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', latest);
    return () => document.removeEventListener('keydown', latest);
  }, []);
}

/** Escape leaves a field, unless it closes something: the next key is one of the page. */
export function useLeaveOnEscape(): void {
  useKeyDown((event) => {
    const target = targetOf(event);
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
    if (target === undefined || target.closest(FIELDS) === null || target.closest(OVER) !== null) return;
    event.preventDefault(); // a field of a search would be cleared
    target.blur();
  });
}
