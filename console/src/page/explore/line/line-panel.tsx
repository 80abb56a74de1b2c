import { type ReactNode, useCallback, useState } from 'react';
import { formatCount } from '../../../format/number.ts';
import { describeRange } from '../../../format/time-range.ts';
import { useZone } from '../../../preference.ts';
import { Empty } from '../../../ui/empty.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import type { ExploreAddress } from '../address.ts';
import { FieldList } from '../field-list.tsx';
import { rangeOf, type Search } from '../search/search.ts';
import { WorkNote } from '../search/work-note.tsx';
import type { Fields } from '../use-fields.ts';
import { atOf, LINES_MAX } from './line.ts';
import { LineList } from './line-list.tsx';
import type { LineActions } from './record.tsx';
import type { Lines } from './use-lines.ts';
import { useTail } from './use-tail.ts';

interface LinePanelProps extends Omit<LineActions, 'columns'> {
  readonly address: ExploreAddress;
  readonly search: Search;
  readonly lines: Lines;
  readonly fields: Fields;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly onScrolled: (isScrolled: boolean) => void;
}

/** The lines of the search, and what can be done with all of them. */
export function LinePanel(props: LinePanelProps) {
  const { address, search, lines, fields, onChange, onScrolled, ...actions } = props;
  const { live, columns, at } = address;
  const [showFields, setShowFields] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [isScrolled, setScrolled] = useState(false);
  const tail = useTail(search, {
    live: live && !lines.isOld,
    // The lines that are looked at stay in their place.
    held: isPaused || isScrolled,
    newest: lines.lines[0],
    onLines: lines.add,
  });
  const { state, more } = lines;
  const onEnd = useEnd(lines);
  const onScroll = useCallback(
    (isAway: boolean) => {
      setScrolled(isAway);
      onScrolled(isAway);
    },
    [onScrolled],
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
        <LiveControls
          live={live}
          paused={isPaused}
          waiting={tail.waiting}
          onLive={() => {
            setPaused(false);
            onChange({
              live: !live,
              ...(!live && { range: address.range ?? '1h', from: undefined, until: undefined }),
            });
          }}
          onPause={() => setPaused(!isPaused)}
          onShow={() => {
            setPaused(false);
            document.querySelector('.line-list')?.scrollTo({ top: 0 });
          }}
        />
        <Status lines={lines} at={at} />
        <WorkNote {...{ state, progress: lines, onResume: more }} doing="Searching" what="The search" />
      </div>
      {tail.error !== undefined && <ErrorNote error={tail.error} />}
      <div className="line-body">
        {showFields && (
          <FieldList
            fields={fields.fields}
            readValues={fields.readValues}
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
            onScrolled={onScroll}
            {...actions}
          />
        ) : (
          <NoLines {...props} />
        )}
      </div>
    </section>
  );
}

/** Reads on when the end of the list comes near, until it is full; after a stop or a failure only on request. */
function useEnd({ lines, hasMore, state, more }: Lines): () => void {
  const canRead = hasMore && lines.length < LINES_MAX && state.kind === 'done';
  return useCallback(() => {
    if (canRead) more();
  }, [canRead, more]);
}

interface LiveControlsProps {
  readonly live: boolean;
  readonly paused: boolean;
  readonly waiting: number;
  readonly onLive: () => void;
  readonly onPause: () => void;
  readonly onShow: () => void;
}

function LiveControls({ live, paused, waiting, onLive, onPause, onShow }: LiveControlsProps) {
  return (
    <>
      <button type="button" className="button quiet" aria-pressed={live} onClick={onLive}>
        <span className={live && !paused ? 'pulse on' : 'pulse'} aria-hidden="true" />
        Live
      </button>
      {live && (
        <button type="button" className="button quiet" aria-pressed={paused} onClick={onPause}>
          Pause
        </button>
      )}
      {waiting > 0 && (
        <button type="button" className="button quiet line-waiting" onClick={onShow}>
          {formatCount(waiting)} new
        </button>
      )}
    </>
  );
}

function Status({ lines, at }: { readonly lines: Lines; readonly at: string }) {
  const { hasMore, isOld, state } = lines;
  const count = lines.lines.length;
  const isMissing =
    at !== '' && !isOld && state.kind === 'done' && !lines.lines.some((line) => atOf(line) === at);
  return (
    <span className="small muted number" role="status">
      {!isOld && `${formatCount(count)} ${count === 1 ? 'line' : 'lines'}`}
      {!isOld && count > 0 && !hasMore && ', all'}
      {count >= LINES_MAX && `: the most that are listed. For older ones choose an earlier range.`}
      {isMissing && ` · the line ${at} is not among them`}
    </span>
  );
}

/** Says why there are no lines. */
function NoLines({ address, lines, onChange }: LinePanelProps): ReactNode {
  const zone = useZone();
  const { state, hint, isOld } = lines;
  if (state.kind === 'failed') {
    const { error } = state;
    const isQuery = error.errors.some(({ parameter }) => parameter === 'q');
    return isQuery ? (
      <Empty title="The search has a fault">{error.message}</Empty>
    ) : (
      <ErrorNote error={error} />
    );
  }
  if (state.kind === 'running' || isOld) return <p className="line-none muted">Searching…</p>;
  if (state.kind === 'stopped') return <Empty title="Stopped">Nothing was found before that.</Empty>;
  const range = describeRange(rangeOf(address), zone);
  const isShort = address.range !== '7d' && address.range !== '30d';
  const where = address.source.length === 0 ? 'any source' : address.source.join(', ');
  return (
    <Empty title={address.live ? 'No events yet' : 'No events'}>
      {address.q === '' ? 'There are no events' : 'No event matches'} in {where}
      {address.project !== '' && `, project ${address.project}`}: {range.toLowerCase()}.
      {hint !== undefined && ` A hint: ${hint}.`}{' '}
      {isShort && (
        <button
          type="button"
          className="button quiet"
          onClick={() => onChange({ range: '7d', from: undefined, until: undefined })}
        >
          Search the last 7 days
        </button>
      )}
    </Empty>
  );
}
