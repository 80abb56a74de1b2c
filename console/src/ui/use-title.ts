import { useEffect } from 'react';

/** Names the window: `level:error · Explore · Tailrace`. Of two, that of the component further down the page counts. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Tailrace`;
  }, [title]);
}
