import { useCallback, useRef, useState } from 'react';
import { formatCount } from '../../../format/number.ts';
import { ErrorNote } from '../../../ui/error-note.tsx';
import type { ExploreAddress } from '../address.ts';
import { FieldList } from '../field-list.tsx';
import type { Search } from '../search/search.ts';
import { WorkNote } from '../search/work-note.tsx';
import type { Fields } from '../use-fields.ts';
import { isAt, parseAt } from './at.ts';
import { LINES_MAX } from './line.ts';
import { LineList } from './line-list.tsx';
import { LiveControls } from './live-controls.tsx';
import { NoLines } from './no-lines.tsx';
import type { LineActions } from './record.tsx';
import type { Lines } from './use-lines.ts';
import { useTail } from './use-tail.ts';

interface LinePanelProps extends Omit<LineActions, 'columns'> {
  readonly address: ExploreAddress;
  readonly search: Search;
  readonly lines: Lines;
  readonly fields: Fields;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  /** Whether the lines are looked at. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** The lines of the search, and what can be done with all of them. */
export function LinePanel(props: LinePanelProps) {
  const { address, search, lines, fields, onChange, onHeld, ...actions } = props;
  const { live, columns, at } = address;
  const [showFields, setShowFields] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const tail = useTail(search, {
    live: live && !lines.isOld,
    // The lines that are looked at stay in their place.
    held: isPaused || isHeld,
    shown: lines.lines,
    onLines: lines.add,
  });
  const { state, more } = lines;
  const canRead = lines.lines.length < LINES_MAX && state.kind === 'done' && !lines.isOld;
  const onEnd = useIf(canRead && lines.hasMore, more);
  const onStart = useIf(canRead && lines.hasNewer, lines.moreNewer);
  const onLook = useCallback(
    (isLookedAt: boolean) => {
      setHeld(isLookedAt);
      onHeld(isLookedAt);
    },
    [onHeld],
  );
  return (
    <section className="panel line-panel" aria-label="Events">
      <div className="line-bar">
        <button
          type="button"
          className="button quiet"
          aria-pressed={showFields}
          onClick={() => setShowFields(!showFields)}
        >
          Fields
        </button>
        <LiveControls {...{ address, tail, onChange }} paused={isPaused} onPaused={setPaused} />
        <Status lines={lines} at={at} />
        <WorkNote {...{ state, progress: lines, onResume: more }} doing="Searching" what="The search" />
      </div>
      {tail.error !== undefined && <ErrorNote error={tail.error} />}
      <div className="line-body">
        {showFields && (
          <FieldList
            fields={fields.fields}
            valuesOf={fields.valuesOf}
            columns={columns}
            onFilter={actions.onFilter}
            onColumn={actions.onColumn}
            onBy={(by) => onChange({ by })}
          />
        )}
        {lines.lines.length > 0 ? (
          <LineList
            search={lines.search}
            lines={lines.lines}
            at={at}
            old={lines.isOld}
            columns={columns}
            onEnd={onEnd}
            onStart={onStart}
            onHeld={onLook}
            {...actions}
          />
        ) : (
          <NoLines {...props} />
        )}
      </div>
    </section>
  );
}

/** Reads on when an end of the list comes near, until it is full; after a stop or a failure only on request. */
function useIf(canRead: boolean, read: () => void): () => void {
  const latest = useRef(read);
  latest.current = read;
  return useCallback(() => {
    if (canRead) latest.current();
  }, [canRead]);
}

function Status({ lines, at }: { readonly lines: Lines; readonly at: string }) {
  const { hasMore, hasNewer, isOld, state } = lines;
  const count = lines.lines.length;
  const place = parseAt(at);
  const isMissing =
    at !== '' && !isOld && state.kind === 'done' && !lines.lines.some((line) => place && isAt(line, place));
  return (
    <span className="small muted number" role="status">
      {!isOld && `${formatCount(count)} ${count === 1 ? 'line' : 'lines'}`}
      {!isOld && count > 0 && !hasMore && !hasNewer && ', all'}
      {count >= LINES_MAX && `: the most that are listed. For older ones choose an earlier range.`}
      {isMissing && ` · the line ${place?.id ?? at} is not among them`}
    </span>
  );
}
