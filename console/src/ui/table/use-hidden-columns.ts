import { type RefObject, useEffect, useState } from 'react';

/** The number of a table's columns that are not, or not wholly, to be seen until it is scrolled to the right. */
export function useHiddenColumns(scroll: RefObject<HTMLElement | null>, columns: readonly unknown[]): number {
  const [hidden, setHidden] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns have other widths
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    const count = () => {
      const end = element.scrollLeft + element.clientWidth;
      const isHidden = (head: HTMLElement) => head.offsetLeft + head.offsetWidth > end + 1;
      setHidden([...element.querySelectorAll<HTMLElement>('thead th')].filter(isHidden).length);
    };
    const resized = new ResizeObserver(count);
    resized.observe(element);
    const table = element.querySelector('table');
    if (table !== null) resized.observe(table);
    element.addEventListener('scroll', count, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', count);
    };
  }, [scroll, columns]);
  return hidden;
}
