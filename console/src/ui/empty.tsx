import type { ReactNode } from 'react';

/** In the place of something that is not there: what it would be, and how to get it. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  );
}
