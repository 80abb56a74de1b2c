import { QueryClientContext } from '@tanstack/react-query';
import { use, useEffect, useState } from 'react';
import { Button } from '../button.tsx';
import { findServedVersion, MissingPart, type ServedVersion } from './part.ts';

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
export function Broken({ error, onRetry }: BrokenProps) {
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
