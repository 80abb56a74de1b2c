import { useMemo, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatCount } from '../../format/number.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { Answer } from './answer.ts';
import { findBounds } from './log.ts';
import { LogList } from './log-list.tsx';
import './log.css';
import type { UrlState } from './url-state.ts';
import { useLog } from './use-log.ts';

interface LogViewProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
  readonly answer: Answer;
  readonly url: UrlState;
  readonly onChange: (change: Partial<UrlState>) => void;
}

/** Log entries, newest first: filters the loaded ones, loads older ones on request and newer ones as they arrive. */
export function LogView({ endpoint, values, answer, url, onChange }: LogViewProps) {
  const { live, filter } = url;
  const [isHeld, setHeld] = useState(false);
  const log = useLog(endpoint, values, { answer, live, held: isHeld });
  const wanted = filter.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted === '' ? log.entries : log.entries.filter((entry) => entry.text.includes(wanted))),
    [log.entries, wanted],
  );
  const count = formatCount(log.entries.length);
  return (
    <div className="log">
      <div className="log-bar">
        <input
          className="input"
          type="search"
          aria-label="Filter the loaded entries"
          placeholder="Filter loaded entries by message or metadata"
          value={filter}
          onChange={(event) => onChange({ filter: event.target.value })}
        />
        {findBounds(endpoint).start !== undefined && (
          <button
            type="button"
            className="button"
            aria-pressed={live}
            onClick={() => onChange({ live: !live })}
          >
            <span className={live ? 'pulse on' : 'pulse'} aria-hidden="true" />
            Live
          </button>
        )}
        {log.count > 0 && (
          <button
            type="button"
            className="button quiet log-waiting"
            onClick={() => {
              log.show();
              document.querySelector('.log-list')?.scrollTo({ top: 0 });
            }}
          >
            {formatCount(log.count)} new
          </button>
        )}
        <span className="small muted number" role="status">
          {wanted === '' ? `${count} entries` : `${formatCount(shown.length)} of ${count} entries`}
        </span>
      </div>
      {log.error !== undefined && <ErrorNote error={log.error} />}
      {shown.length === 0 ? (
        <NoEntries filtered={wanted !== ''} live={live} />
      ) : (
        <LogList entries={shown} onHeld={setHeld} />
      )}
      {log.entries.length > 0 && (
        <div className="log-more">
          {log.hasOlder ? (
            <button type="button" className="button" disabled={log.busy} onClick={log.loadOlder}>
              {log.busy ? 'Loading…' : 'Load older'}
            </button>
          ) : (
            <span className="small muted">No older entries within the plan’s range.</span>
          )}
        </div>
      )}
    </div>
  );
}

function NoEntries({ filtered, live }: { readonly filtered: boolean; readonly live: boolean }) {
  if (filtered) {
    return (
      <Empty title="No entry matches">
        The filter searches loaded entries only: load older ones, or change it.
      </Empty>
    );
  }
  return (
    <Empty title="No entries">
      {live
        ? 'New entries appear here.'
        : 'No entry matches these values. Check the project and the plan’s range, or turn Live on and send an event.'}
    </Empty>
  );
}
