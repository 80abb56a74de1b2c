import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../format/number.ts';
import { usePreference } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import { ErrorNote } from '../note.tsx';
import './lines-panel.css';
import { FieldList, type FieldListProps } from './field-list.tsx';
import { isAt, LINES_MAX, type Line, parseAt } from './line.ts';
import { LineList } from './line-list.tsx';
import type { LineSource } from './read.ts';
import type { LineActions } from './record.tsx';
import type { Lines } from './use-lines.ts';
import type { ListPlace } from './use-place.ts';
import { type Tail, useTail } from './use-tail.ts';
import { isRefused, WorkNote } from './use-work.tsx';

interface LinesPanelProps extends LineActions, Pick<FieldListProps, 'fields' | 'valuesOf' | 'onBy'> {
  readonly label: string;
  readonly source: LineSource;
  readonly lines: Lines;
  /** Those of the lines that match a filter of the page; undefined without one. */
  readonly filtered?: readonly Line[] | undefined;
  /** Name of the line to mark. */
  readonly at: string;
  readonly live: boolean;
  readonly onLive: (live: boolean) => void;
  /** Where the list was when this search was left, and a function that keeps it (use-place.ts). */
  readonly place?: ListPlace | undefined;
  readonly onPlace?: (place: ListPlace) => void;
  /** Shown if there are no lines. */
  readonly none: ReactNode;
  /** Replaces the list of the fields' names. */
  readonly fieldList?: ReactNode;
  /** Further controls of the bar. */
  readonly children?: ReactNode;
}

/** The lines of a source, and what can be done with all of them. */
export function LinesPanel(props: LinesPanelProps) {
  const { label, source, lines, filtered, at, live, none, children, onLive, ...rest } = props;
  const { fields, valuesOf, onBy, fieldList, place, onPlace, ...actions } = rest;
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
  const ends = useEndsOf(lines, filtered !== undefined);
  const { state, more } = lines;
  const shown = filtered ?? lines.lines;
  return (
    <section className="panel line-panel" aria-label={label}>
      <div className="line-bar">
        {children}
        <QuietButton aria-pressed={showFields} onClick={() => setShowFields(!showFields)}>
          Fields
        </QuietButton>
        <ReadingControls lines={shown} />
        {source.tail !== undefined && (
          <LiveControls {...{ live, tail, onLive }} paused={isPaused} onPaused={setPaused} />
        )}
        <Status {...{ lines, filtered, at }} />
        {filtered !== undefined && lines.hasMore && state.kind !== 'running' && (
          <QuietButton onClick={more}>Load older</QuietButton>
        )}
        <WorkNote {...{ state, progress: lines, onResume: more }} doing="Searching" what="The search" />
      </div>
      {tail.error !== undefined && <ErrorNote error={tail.error} />}
      {state.kind === 'failed' && isRefused(state) && lines.lines.length > 0 && (
        <ErrorNote error={state.error} />
      )}
      <div className="line-body">
        {showFields && (fieldList ?? <FieldList {...{ fields, valuesOf, onBy, ...actions }} />)}
        {shown.length > 0 ? (
          <LineList
            source={lines.source}
            lines={shown}
            at={at}
            old={lines.isOld}
            {...ends}
            onHeld={setHeld}
            {...{ place, onPlace }}
            {...actions}
          />
        ) : (
          none
        )}
      </div>
    </section>
  );
}

/**
 * Reads on when an end of the list comes near, until it is full; after a stop or a failure only on request, and so with a filter:
 * lines that do not match would be read to their end.
 */
function useEndsOf({ lines, state, isOld, hasMore, hasNewer, more, moreNewer }: Lines, isFiltered: boolean) {
  const isFree = (state.kind === 'done' || state.kind === 'idle') && !isOld && !isFiltered;
  const canRead = isFree && lines.length < LINES_MAX;
  return { onEnd: useIf(canRead && hasMore, more), onStart: useIf(canRead && hasNewer, moreNewer) };
}

function useIf(canRead: boolean, read: () => void): () => void {
  const latest = useRef(read);
  latest.current = read;
  return useCallback(() => {
    if (canRead) latest.current();
  }, [canRead]);
}

function Status({ lines, filtered, at }: Pick<LinesPanelProps, 'lines' | 'filtered' | 'at'>) {
  const { hasMore, hasNewer, isOld, state } = lines;
  const count = lines.lines.length;
  const place = parseAt(at);
  const isMissing =
    at !== '' && !isOld && state.kind === 'done' && !lines.lines.some((line) => place && isAt(line, place));
  const extent = hasNewer ? '' : hasMore ? 'newest ' : 'all ';
  const which = `${filtered === undefined ? '' : `${formatCount(filtered.length)} of `}${extent}`;
  return (
    <span className="small muted number" role="status">
      {!isOld && count > 0 && `${which}${formatCount(count)} ${filtered === undefined ? 'shown' : 'match'}`}
      {count >= LINES_MAX && `: the most that are listed. For older ones choose an earlier range.`}
      {isMissing && ` · the line ${place?.id ?? at} is not among them`}
    </span>
  );
}

interface LiveControlsProps {
  readonly live: boolean;
  readonly tail: Tail;
  readonly paused: boolean;
  readonly onPaused: (paused: boolean) => void;
  readonly onLive: (live: boolean) => void;
}

/** Follows new lines, or lets them wait. */
function LiveControls({ live, tail, paused, onPaused, onLive }: LiveControlsProps) {
  const onShow = () => {
    onPaused(false);
    tail.show(); // also while a line is open
    document.querySelector('.line-list')?.scrollTo({ top: 0 });
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

/** How many lines are looked at for terminal codes: what sends them sends them often. */
const LOOKED_AT = 200;
const ESCAPE = '\u001b';

/** How messages are shown, in every list of this browser. */
function ReadingControls({ lines }: { readonly lines: readonly Line[] }) {
  const { preference, change } = usePreference();
  const { wrap, ansi } = preference;
  const hasCodes = useMemo(
    () => lines.slice(0, LOOKED_AT).some(({ message }) => message.slice(0, 2_000).includes(ESCAPE)),
    [lines],
  );
  return (
    <>
      <QuietButton
        aria-pressed={wrap}
        title="Show long messages in several lines"
        onClick={() => change({ wrap: !wrap })}
      >
        Wrap
      </QuietButton>
      {hasCodes && (
        <QuietButton
          aria-pressed={ansi}
          title="Draw the colours of terminal codes"
          onClick={() => change({ ansi: !ansi })}
        >
          Colours
        </QuietButton>
      )}
    </>
  );
}
