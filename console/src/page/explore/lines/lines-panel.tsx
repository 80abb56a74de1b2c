import { type ReactNode, useCallback, useRef, useState } from 'react';
import { formatCount } from '../../../format/number.ts';
import { usePreference } from '../../../preference.ts';
import { QuietButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/note.tsx';
import './lines-panel.css';
import { isAt, LINES_MAX, parseAt } from './line.ts';
import { LineList } from './line-list.tsx';
import type { LineSource } from './read.ts';
import type { LineActions } from './record.tsx';
import type { Lines } from './use-lines.ts';
import { goToNewest } from './use-list.ts';
import { type Tail, useTail } from './use-tail.ts';
import { isRefused, WorkNote } from './use-work.tsx';

interface LinesPanelProps extends LineActions {
  readonly source: LineSource;
  readonly lines: Lines;
  /** Name of the line to mark. */
  readonly at: string;
  readonly live: boolean;
  readonly onLive: (live: boolean) => void;
  /** Whether the lines are shown in the order of time. */
  readonly oldestFirst: boolean;
  readonly onOldestFirst: (oldestFirst: boolean) => void;
  /** Reads from the newest line on. */
  readonly onNewest: () => void;
  /** Shown if there are no lines. */
  readonly none: ReactNode;
  readonly fieldList: ReactNode;
}

/** The lines of a source, and what can be done with all of them. */
export function LinesPanel(props: LinesPanelProps) {
  const { source, lines, at, live, oldestFirst, none, fieldList, ...others } = props;
  const { onLive, onOldestFirst, onNewest, ...actions } = others;
  const { preference, change } = usePreference();
  const [showFields, setShowFields] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const tail = useTail(source, {
    live: live && !lines.isOld,
    // The lines that are looked at stay in their place.
    held: isPaused || isHeld,
    shown: lines.lines,
    onLines: lines.add,
  });
  const onEnd = useEndOf(lines);
  const { state, more } = lines;
  return (
    <section className="panel line-panel" aria-label="Events">
      <div className="line-bar">
        <QuietButton aria-pressed={showFields} onClick={() => setShowFields(!showFields)}>
          Fields
        </QuietButton>
        <QuietButton
          aria-pressed={preference.wrap}
          title="Show long messages in several lines"
          onClick={() => change({ wrap: !preference.wrap })}
        >
          Wrap
        </QuietButton>
        <QuietButton
          aria-pressed={oldestFirst}
          title="Show the lines in the order of time; scroll up for older ones"
          onClick={() => onOldestFirst(!oldestFirst)}
        >
          Oldest first
        </QuietButton>
        <LiveControls {...{ live, oldestFirst, tail, onLive }} paused={isPaused} onPaused={setPaused} />
        <Status {...{ lines, at }} />
        {lines.hasNewer && <QuietButton onClick={onNewest}>Newest</QuietButton>}
        <WorkNote {...{ state, progress: lines, onResume: more }} doing="Searching" what="The search" />
      </div>
      {tail.error !== undefined && <ErrorNote error={tail.error} />}
      {state.kind === 'failed' && isRefused(state) && lines.lines.length > 0 && (
        <ErrorNote error={state.error} />
      )}
      <div className="line-body">
        {showFields && fieldList}
        {lines.lines.length > 0 ? (
          <LineList
            key={String(oldestFirst)}
            source={lines.source}
            lines={lines.lines}
            at={at}
            old={lines.isOld}
            {...{ oldestFirst, onEnd }}
            onHeld={setHeld}
            {...actions}
          />
        ) : (
          none
        )}
      </div>
    </section>
  );
}

/** Reads on when the end of the list comes near, until it is full; after a stop or a failure only on request. */
function useEndOf({ lines, state, isOld, hasMore, more }: Lines): () => void {
  const canRead =
    (state.kind === 'done' || state.kind === 'idle') && !isOld && hasMore && lines.length < LINES_MAX;
  const latest = useRef(more);
  latest.current = more;
  return useCallback(() => {
    if (canRead) latest.current();
  }, [canRead]);
}

function Status({ lines, at }: Pick<LinesPanelProps, 'lines' | 'at'>) {
  const { hasMore, hasNewer, isOld, state } = lines;
  const count = lines.lines.length;
  const place = parseAt(at);
  const isMissing =
    at !== '' && !isOld && state.kind === 'done' && !lines.lines.some((line) => place && isAt(line, place));
  const extent = hasNewer ? '' : hasMore ? 'newest ' : 'all ';
  return (
    <span className="small muted number" role="status">
      {!isOld && count > 0 && `${extent}${formatCount(count)} shown`}
      {count >= LINES_MAX && `: the most that are listed. For older ones choose an earlier range.`}
      {isMissing && ` · the line ${place?.id ?? at} is not among them`}
    </span>
  );
}

interface LiveControlsProps {
  readonly live: boolean;
  readonly oldestFirst: boolean;
  readonly tail: Tail;
  readonly paused: boolean;
  readonly onPaused: (paused: boolean) => void;
  readonly onLive: (live: boolean) => void;
}

/** Follows new lines, or lets them wait. */
function LiveControls({ live, oldestFirst, tail, paused, onPaused, onLive }: LiveControlsProps) {
  const onShow = () => {
    onPaused(false);
    tail.show(); // also while a line is open
    // Once they are in the list.
    requestAnimationFrame(() => goToNewest(document.querySelector('.line-list'), oldestFirst));
  };
  return (
    <>
      <QuietButton
        aria-pressed={live}
        onClick={() => {
          onPaused(false);
          onLive(!live);
        }}
      >
        <span className={live && !paused ? 'live-pulse is-on' : 'live-pulse'} aria-hidden="true" />
        Live
      </QuietButton>
      {live && (
        <QuietButton aria-pressed={paused} onClick={() => onPaused(!paused)}>
          Pause
        </QuietButton>
      )}
      {tail.count > 0 && (
        <QuietButton className="line-waiting" onClick={onShow}>
          {formatCount(tail.count)} new
        </QuietButton>
      )}
    </>
  );
}
