import { QueryClientContext } from '@tanstack/react-query';
import { Component, type ComponentType, lazy, type ReactNode, use, useEffect, useState } from 'react';
import { Button } from '../button.tsx';

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

interface BrokenProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

const CAUSES: Readonly<Record<ServedVersion, readonly [title: string, advice: string]>> = {
  other: [
    'A new version is here',
    'The service was updated since you opened this page. Reload it to continue.',
  ],
  unreachable: [
    'The service could not be reached',
    'This page is not loaded yet. Check that the service runs at this address, then try again.',
  ],
  same: ['This page could not be loaded', 'One of its files is missing. Try again.'],
};

/** Replaces a failed part: says why, if that is known, and how to continue. The address and the key are kept. */
function Broken({ error, onRetry }: BrokenProps) {
  const [served, setServed] = useState<ServedVersion>();
  const cache = use(QueryClientContext); // none before the sign-in
  useEffect(() => {
    void findServedVersion().then(setServed);
    // It may have failed over an answer that is kept: the next attempt reads it again.
    cache?.removeQueries({ type: 'inactive' });
  }, [cache]);
  const isMissing = error instanceof MissingPart;
  const [title, advice] =
    isMissing || served === 'other'
      ? CAUSES[served ?? 'same']
      : ['This part of the console failed', 'Try again, or go to another page.'];
  const reload = async () => {
    const now = await findServedVersion();
    // Without the service a reload would lose the page that is open.
    if (now === 'unreachable') setServed(now);
    else location.reload();
  };
  return (
    <div className="empty" role="alert">
      {isMissing && served === undefined ? (
        <p>Looking for the cause…</p>
      ) : (
        <>
          <h1>{title}</h1>
          <p>{advice}</p>
          {!isMissing && served !== 'other' && (
            <p>
              <code>{error instanceof Error ? error.message : String(error)}</code>
            </p>
          )}
          <div className="empty-actions">
            {!isMissing && served !== 'other' && (
              <Button look="primary" onClick={onRetry}>
                Try again
              </Button>
            )}
            <Button onClick={() => void reload()}>
              {isMissing && served !== 'other' ? 'Try again' : 'Reload'}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

/** The error of a file of the console that could not be loaded: it is of another version, or the service is unreachable. */
class MissingPart extends Error {
  override readonly name = 'MissingPart';
}

/** A component whose files are loaded when it is first shown. Its `Boundary` says why if that fails. */
export function lazyPart<Props = object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new MissingPart('a file of the console could not be loaded', { cause });
    }
  });
}

/** `other`: the service has a version of the console that differs from the running one. */
type ServedVersion = 'same' | 'other' | 'unreachable';

/** Whether the service still has the running console: the names of its files contain hashes of their content. */
async function findServedVersion(): Promise<ServedVersion> {
  const own = document.querySelector('script[type=module]')?.getAttribute('src') ?? '';
  try {
    const response = await fetch('/', { cache: 'no-store' });
    const page = await response.text();
    // A proxy may have its own page for a service that does not run.
    if (!response.ok || !page.includes('id="root"')) return 'unreachable';
    return page.includes(own) ? 'same' : 'other';
  } catch {
    return 'unreachable';
  }
}
