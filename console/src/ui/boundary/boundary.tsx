import { Component, type ReactNode } from 'react';
import { Broken } from './broken.tsx';

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
