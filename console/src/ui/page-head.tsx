import { type ReactNode, useEffect } from 'react';
import type { ApiError } from '../api/client.ts';
import { Empty, Reading } from './note.tsx';

interface PageHeadProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** What can be done; hidden in print. */
  readonly actions?: ReactNode;
}

export function PageHead({ title, children, actions }: PageHeadProps) {
  const head = (
    <div className="page-head">
      <h1>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
  if (actions === undefined) return head;
  return (
    <div className="page-title">
      {head}
      <div className="row">{actions}</div>
    </div>
  );
}

interface MissingPageProps extends PageHeadProps {
  readonly error: ApiError | undefined;
  /** Whether the key may not know it; by default by the status. */
  readonly isUnknown?: boolean;
  /** `No such alert`; the children say more. */
  readonly unknown: string;
}

/** A page without what it is about: that is being read, cannot be read, or is unknown to the key. */
export function MissingPage(props: MissingPageProps) {
  const { title, error, isUnknown = error?.status === 404, unknown, children } = props;
  return (
    <>
      <PageHead title={title} />
      {isUnknown ? <Empty title={unknown}>{children}</Empty> : <Reading error={error} />}
    </>
  );
}

/** Names the window: `level:error · Explore · Tailrace`. Of two, that of the component further down the page counts. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Tailrace`;
  }, [title]);
}
