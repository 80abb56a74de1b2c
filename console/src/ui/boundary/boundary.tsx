import { QueryClientContext } from '@tanstack/react-query';
import { Component, type ComponentType, lazy, type ReactNode, Suspense, use, useEffect } from 'react';
import { Button } from '../page-part.tsx';

interface BoundaryProps {
  /** The shown content; another one is tried anew. */
  readonly place: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly fault?: { readonly error: unknown; readonly place?: string } | undefined;
}

/** Shows what to do instead of its children if one of them throws. A class, since React has no hook for it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = {};

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { fault: { error } };
  }

  /** Only this part knows the failed address; at another one, the children are shown again. */
  static getDerivedStateFromProps({ place }: BoundaryProps, { fault }: BoundaryState): BoundaryState | null {
    if (fault === undefined || fault.place === place) return null;
    return { fault: fault.place === undefined ? { ...fault, place } : undefined };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    return <Broken error={fault.error} onRetry={() => this.setState({ fault: undefined })} />;
  }
}

/** Replaces a failed part, and says how to continue. The address and the key are kept. */
function Broken({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const cache = use(QueryClientContext); // none before the sign-in
  // It may have failed over an answer that is kept: the next attempt reads it again.
  useEffect(() => cache?.removeQueries({ type: 'inactive' }), [cache]);
  return (
    <div className="empty" role="alert">
      <h1>This part of the console failed</h1>
      <p>
        Try again, or reload the page: the service may have been updated since you opened it, or was not
        reachable.
      </p>
      <p>
        <code>{error instanceof Error ? error.message : String(error)}</code>
      </p>
      <div className="empty-actions">
        <Button look="primary" onClick={onRetry}>
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    </div>
  );
}

/** A component whose files are loaded when it is first shown. @param fallback shown until then */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: (props: Props) => ReactNode = () => <p className="muted">Loading…</p>,
): ComponentType<Props> {
  const Part: ComponentType<Props> = lazy(async () => ({ default: await load() }));
  return (props) => (
    <Suspense fallback={fallback(props)}>
      <Part {...props} />
    </Suspense>
  );
}
