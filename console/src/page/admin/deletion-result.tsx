import type { DeletionView } from '../../../../src/management/view.ts';
import { formatCount } from '../../format/number.ts';

const TITLES: Readonly<Record<DeletionView['state'], (events: string) => string>> = {
  planned: (events) => `${events} would be deleted; nothing has changed yet.`,
  running: (events) => `${events} are being deleted…`,
  done: (events) => `${events} are deleted.`,
  failed: (events) => `The deletion of ${events} failed.`,
};

/** The events that a deletion concerns, by source, and its state. */
export function DeletionResult({ deletion }: { readonly deletion: DeletionView }) {
  const { state, rows, sources, left_out: leftOut, progress, error } = deletion;
  const events = rows === 1 ? '1 event' : `${formatCount(rows)} events`;
  return (
    <div className={state === 'failed' ? 'note is-bad' : 'note is-info'} role="status">
      <strong>{rows === 0 && state === 'planned' ? 'No event matches.' : TITLES[state](events)}</strong>
      {error !== null && <span>{error}</span>}
      {progress !== null && (
        <span className="small muted">
          {progress.source}: {formatCount(progress.parts_left)} parts left to rewrite
        </span>
      )}
      {sources.length > 0 && (
        <dl className="admin-counts">
          {sources.map((one) => (
            <div key={one.source}>
              <dt>{one.source}</dt>
              <dd className="number">{formatCount(one.rows)}</dd>
            </div>
          ))}
        </dl>
      )}
      {leftOut.map((one) => (
        <span key={one.source} className="small muted">
          {formatCount(one.rows)} of {one.source} stay: the source is protected.
        </span>
      ))}
    </div>
  );
}
