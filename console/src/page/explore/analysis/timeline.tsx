import { useLocation } from 'wouter';
import { formatCount, formatMs, formatTimeMs, fromMicros, showText, zoneName } from '../../../format/show.ts';
import { useZone } from '../../../preference.ts';
import { Empty, ErrorNote } from '../../../ui/page-part.tsx';
import { useExploring } from '../exploring.ts';
import type { Line } from '../lines/line.ts';
import '../lines/line.css';
import { pathAround } from '../lines/record.tsx';
import { faultOf } from '../search.ts';
import './analysis.css';

/** As many as a browser draws at once; a trace rarely has more. */
const SHOWN_MAX = 500;
const CHARS_MAX = 300;

/** The events of a search from the first to the last, each at its place in time: a trace over every source. */
export function Timeline() {
  const { lines } = useExploring();
  const zone = useZone();
  const { state } = lines;
  const all = lines.lines.toReversed();
  const shown = all.slice(0, SHOWN_MAX);
  const [first, last] = [shown[0]?.micros ?? 0, shown.at(-1)?.micros ?? 0];
  const sources = new Set(shown.map(({ source }) => source));
  const isFailed = state.kind === 'failed' && faultOf(state.error) === undefined;
  return (
    <section className="panel analysis" aria-label="Timeline">
      {shown.length > 0 ? (
        <>
          <p className="analysis-note small muted" role="status">
            {formatCount(shown.length)} {shown.length === 1 ? 'event' : 'events'} of {sources.size}{' '}
            {sources.size === 1 ? 'source' : 'sources'} within {formatMs((last - first) / 1_000)}, from{' '}
            {formatTimeMs(first / 1_000, zone)} {zoneName(zone)}
            {shown.length < all.length && `: the first of ${formatCount(all.length)} read`}
            {lines.hasMore && '; the search has older ones'}
          </p>
          <div className="analysis-scroll">
            <ol aria-label="Events, oldest first">
              {shown.map((line) => (
                <TimelineRow key={line.key} {...{ line, first, last }} />
              ))}
            </ol>
          </div>
        </>
      ) : isFailed ? (
        <ErrorNote error={state.error} />
      ) : (
        <Empty title={state.kind === 'running' ? 'Searching…' : 'No events'}>
          The timeline shows the events of the search.
        </Empty>
      )}
    </section>
  );
}

/** @param first microseconds since the epoch */
function TimelineRow({ line, first, last }: Readonly<{ line: Line; first: number; last: number }>) {
  const { address } = useExploring();
  const [, navigate] = useLocation();
  const { micros, source, level, message } = line;
  const at = last === first ? 0 : (micros - first) / (last - first);
  return (
    <li>
      <button
        type="button"
        className={`line-row timeline is-${level ?? 'none'}`}
        onClick={() => navigate(pathAround(address, line))}
      >
        <time className="number muted" dateTime={fromMicros(micros)}>
          +{formatMs((micros - first) / 1_000)}
        </time>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <line className="timeline-track" x1="0" x2="100" y1="4" y2="4" />
          <rect className="timeline-mark" x={at * 99} width="1" height="8" />
        </svg>
        <span className="timeline-source">{source}</span>
        <span className="line-level">{level ?? '–'}</span>
        <span className="timeline-message">{showText(message.slice(0, CHARS_MAX))}</span>
      </button>
    </li>
  );
}
