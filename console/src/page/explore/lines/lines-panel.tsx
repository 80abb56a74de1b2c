import { type ReactNode, useCallback, useEffect, useEffectEvent, useState } from 'react';
import { describeRange, lastMs } from '../../../format/range.ts';
import { formatCount } from '../../../format/show.ts';
import { usePreference, useZone } from '../../../preference.ts';
import { lazyPart } from '../../../ui/boundary/boundary.tsx';
import { Empty, ErrorNote, QuietButton } from '../../../ui/page-part.tsx';
import { LAST_HOUR } from '../address.ts';
import { useExploring } from '../exploring.ts';
import { faultOf, searchPath } from '../search.ts';
import './lines-panel.css';
import { parseJson, type Row } from '../../../api/answer.ts';
import { ApiError } from '../../../api/client.ts';
import { followTail } from '../../../api/follow.ts';
import { useClient } from '../../../api/queries.ts';
import { formatAt, LINES_MAX, type Line, mergeLines, parseAt, toLine } from './line.ts';
import { goToNewest, LineList } from './line-list.tsx';
import { readSince } from './read.ts';
import { isRejected, WorkNote } from './use-work.tsx';

const FieldList = lazyPart(
  async () => (await import('../analysis/fields.tsx')).FieldList,
  () => <p className="field-list muted">Loading…</p>,
);

export function LinesPanel() {
  const { address, change, lines } = useExploring();
  const { live, order } = address;
  const { preference, change: prefer } = usePreference();
  const [showFields, setShowFields] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  // The lines that are looked at stay in their place.
  const tail = useTail(isPaused || isHeld);
  const { state, more } = lines;
  const onLive = () => {
    setPaused(false);
    // A live list ends now.
    const range = address.range.kind === 'last' ? address.range : LAST_HOUR;
    change(live ? { live: false } : { live: true, range });
  };
  const onShow = () => {
    setPaused(false);
    tail.show(); // also while a line is open
    // Once they are in the list.
    requestAnimationFrame(() => goToNewest(document.querySelector('.line-list'), order));
  };
  return (
    <section className="panel line-panel" aria-label="Events">
      <div className="row line-bar">
        <QuietButton aria-pressed={showFields} onClick={() => setShowFields(!showFields)}>
          Fields
        </QuietButton>
        <QuietButton
          aria-pressed={preference.wrap}
          title="Show long messages in several lines"
          onClick={() => prefer({ wrap: !preference.wrap })}
        >
          Wrap
        </QuietButton>
        <QuietButton
          aria-pressed={order === 'oldest'}
          title="Show the lines in the order of time; scroll up for older ones"
          onClick={() => change({ order: order === 'oldest' ? 'newest' : 'oldest' })}
        >
          Oldest first
        </QuietButton>
        <QuietButton aria-pressed={live} onClick={onLive}>
          <span className={live && !isPaused ? 'live-pulse is-on' : 'live-pulse'} aria-hidden="true" />
          Live
        </QuietButton>
        {live && (
          <QuietButton aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            Pause
          </QuietButton>
        )}
        {tail.count > 0 && (
          <QuietButton className="line-waiting" onClick={onShow}>
            {formatCount(tail.count)} new
          </QuietButton>
        )}
        <Status />
        {lines.hasNewer && <QuietButton onClick={() => change({ at: '' })}>Newest</QuietButton>}
        <WorkNote {...{ state, progress: lines, onResume: more }} doing="Searching" what="The search" />
      </div>
      {tail.error !== undefined && <ErrorNote error={tail.error} />}
      {state.kind === 'failed' && isRejected(state) && lines.lines.length > 0 && (
        <ErrorNote error={state.error} />
      )}
      <div className="line-body">
        {showFields && <FieldList />}
        {lines.lines.length > 0 ? <LineList key={order} onHeld={setHeld} /> : <NoLines />}
      </div>
    </section>
  );
}

function Status() {
  const { address, lines } = useExploring();
  const { at } = address;
  const { hasMore, hasNewer, isOld, state } = lines;
  const count = lines.lines.length;
  const isMissing =
    at !== '' && !isOld && state.kind === 'done' && !lines.lines.some((line) => formatAt(line) === at);
  const extent = hasNewer ? '' : hasMore ? 'newest ' : 'all ';
  return (
    <span className="small muted number" role="status">
      {!isOld && count > 0 && `${extent}${formatCount(count)} shown`}
      {count >= LINES_MAX && `: the most that are listed. For older ones choose an earlier range.`}
      {isMissing && ` · the line ${parseAt(at)?.id ?? at} is not among them`}
    </span>
  );
}

const WEEK_MS = 7 * 86_400_000;

function NoLines(): ReactNode {
  const zone = useZone();
  const { address, change, lines } = useExploring();
  const { state, hint, isOld } = lines;
  if (state.kind === 'failed') {
    const { error } = state;
    if (faultOf(error) === undefined) return <ErrorNote error={error} />;
    return <p className="line-none muted">Correct the search to see its events.</p>;
  }
  if (state.kind === 'running' || isOld) return <p className="line-none muted">Searching…</p>;
  if (state.kind === 'stopped') return <Empty title="Stopped">Nothing was found before that.</Empty>;
  const range = describeRange(address.range, zone);
  const isShort = address.range.kind === 'absolute' || lastMs(address.range.range) < WEEK_MS;
  const where = address.source.length === 0 ? 'any source' : address.source.join(', ');
  return (
    <Empty title={address.live ? 'No events yet' : 'No events'}>
      {address.q === '' ? 'There are no events' : 'No event matches'} in {where}
      {address.project !== '' && `, project ${address.project}`}: {range.toLowerCase()}.
      {hint !== undefined && ` A hint: ${hint}.`}{' '}
      {isShort && (
        <QuietButton onClick={() => change({ range: { kind: 'last', range: '7d' } })}>
          Search the last 7 days
        </QuietButton>
      )}
    </Empty>
  );
}

/** Follows the new lines of the search by a live tail. They wait while the list is `held`, since they would move it. */
function useTail(held: boolean) {
  const { address, search, lines } = useExploring();
  const live = address.live && !lines.isOld;
  const client = useClient();
  const [waiting, setWaiting] = useState<readonly Line[]>([]);
  const [error, setError] = useState<ApiError>();
  const path = searchPath(search, undefined, {});
  const { add } = lines;

  /** Adds those that wait; further ones wait on. */
  const show = useCallback(() => {
    add(waiting);
    const added = new Set(waiting);
    setWaiting((before) => before.filter((line) => !added.has(line)));
  }, [waiting, add]);
  useEffect(() => {
    if (!held && waiting.length > 0) show();
  }, [held, waiting, show]);

  // What the list has does not wait.
  const take = useEffectEvent((found: readonly Line[]) => {
    const known = new Set(lines.lines.map(({ key }) => key));
    const further = found.filter(({ key }) => !known.has(key));
    setWaiting((before) => mergeLines(before, further));
  });
  const catchUp = useEffectEvent(async (signal: AbortSignal) => {
    const found = await readSince(search, lines.lines[0], { client, signal });
    if (!signal.aborted) take(found);
  });
  useEffect(() => {
    if (!live) return;
    const controller = new AbortController();
    const { signal } = controller;
    void followTail(client.openEvents, path, {
      signal,
      catchUp: () => catchUp(signal),
      onOpen: () => setError(undefined),
      onRows: (rows) => take(rows.map((row) => toLine(parseJson(row) as Row))), // of the tail
      onFailure(failure) {
        if (failure instanceof ApiError) setError(failure);
      },
    });
    return () => {
      controller.abort();
      setError(undefined);
      setWaiting([]);
    };
  }, [live, client, path]);
  return { count: waiting.length, show, error };
}
