import type { ReactNode } from 'react';

interface EmptyProps {
  readonly title: string;
  /** Whether it replaces a page, whose heading its title then is. */
  readonly isPage?: boolean;
  readonly children: ReactNode;
}

/** Replaces missing content: says what would be here and how to get it. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <strong>{title}</strong>}
      <p>{children}</p>
    </div>
  );
}
