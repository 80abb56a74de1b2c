import { Suspense } from 'react';
import type { Client } from '../../api/client.ts';
import { useRun } from '../../api/queries.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { ErrorNote } from '../../ui/note.tsx';

const TextDiff = lazyPart(async () => (await import('../../ui/diff/text-diff.tsx')).TextDiff);

/** The stored texts by file name. */
interface Stored {
  readonly version: string | null;
  readonly texts: Readonly<Record<string, string>>;
}

interface ConflictProps {
  /** Path of the stored texts. */
  readonly path: string;
  /** The version that the work started from; null: a new definition. */
  readonly version: string | null;
  /** The texts under work by file name. */
  readonly mine: Stored['texts'];
  /** @throws ApiError */
  readonly read: (client: Client, signal: AbortSignal) => Promise<Stored>;
}

/** What differs between the stored texts and those under work, if the stored ones have changed. */
export function Conflict({ path, version, mine, read }: ConflictProps) {
  const run = useRun({ key: ['conflict', path], read });
  // The definition may have been removed, or the conflict may be with another one.
  if (run.state === 'failed') return run.error.status === 404 ? null : <ErrorNote error={run.error} />;
  if (run.state !== 'done') return <p className="muted">Reading theirs…</p>;
  const { texts, version: stored } = run.value;
  if (stored === version) return null;
  const changed = Object.entries(texts).filter(([file, text]) => mine[file] !== text);
  return (
    <Suspense fallback={<p className="muted">Loading…</p>}>
      {changed.length === 0 && <p className="muted">Yours are the same as theirs.</p>}
      {changed.map(([file, text]) => (
        <TextDiff
          key={file}
          label={file}
          before={{ name: 'theirs', text }}
          after={{ name: 'mine', text: mine[file] ?? '' }}
        />
      ))}
    </Suspense>
  );
}
