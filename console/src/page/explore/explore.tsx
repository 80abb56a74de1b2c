import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { ownMember } from '../../format/own.ts';
import { offsetOf } from '../../format/time-axis.ts';
import { useZone } from '../../preference.ts';
import { formatAt, rangeAround } from '../../ui/lines/at.ts';
import type { Line } from '../../ui/lines/line.ts';
import { LinesPanel } from '../../ui/lines/lines-panel.tsx';
import type { LineSource } from '../../ui/lines/source.ts';
import { addTerm, toggleColumn } from '../../ui/lines/term.ts';
import { isElsewhere } from '../../ui/lines/use-line-keys.ts';
import { useLines } from '../../ui/lines/use-lines.ts';
import { isRefused } from '../../ui/lines/use-work.ts';
import { type ExploreAddress, explorePath } from './address.ts';
import './explore.css';
import { ExploreHead } from './explore-head.tsx';
import { HistogramPanel } from './histogram/histogram.tsx';
import { useHistogram } from './histogram/use-histogram.ts';
import { KeyHelp } from './key-help.tsx';
import { NoLines } from './no-lines.tsx';
import { resolveSearch, type Search } from './search/search.ts';
import { createSearchSource, createSearchTail } from './search/search-source.ts';
import { useAddress } from './use-address.ts';
import { useFields } from './use-fields.ts';

const LIVE_COUNT_MS = 10_000;

/** Searches the events of every source: a chart of when they happened, and their lines. */
export function ExplorePage() {
  const [given, change] = useAddress();
  const pinned = useClient().self.pins['project'];
  const address = useMemo(() => ({ ...given, project: pinned ?? given.project }), [given, pinned]);
  const { columns, live, at } = address;
  const [isHeld, setHeld] = useState(false);
  const [help, setHelp] = useState(false);
  const { search, source, lines, histogram, refresh } = useExplore(address, isHeld);
  const isRunning = [lines, histogram].some(({ state }) => state.kind === 'running');
  const fields = useFields(search, lines.lines);

  useKeys({ '?': () => setHelp(true), '/': focusQuery });
  const filter = (term: string) => change({ q: addTerm(address.q, term) });
  const onZoom = (fromMs: number, untilMs: number) => change({ ...toRange(fromMs, untilMs), live: false });
  return (
    <div className="explore">
      <ExploreHead
        address={address}
        pinned={pinned}
        search={search}
        fields={fields}
        running={isRunning}
        error={lines.state.kind === 'failed' ? lines.state.error : undefined}
        onChange={change}
        onRun={(q) => (q === address.q ? refresh() : change({ q }))}
        onRefresh={refresh}
        onStop={() => {
          lines.stop();
          histogram.stop();
        }}
        onHelp={() => setHelp(true)}
      />
      <HistogramPanel
        histogram={histogram}
        fields={fields.groups}
        onBy={(by) => change({ by })}
        onZoom={onZoom}
        onFilter={filter}
      />
      <LinesPanel
        label="Events"
        {...{ source, lines, columns, live, at }}
        fields={fields.fields}
        valuesOf={fields.valuesOf}
        none={<NoLines address={address} lines={lines} onChange={change} />}
        onLive={(next) => change({ live: next, ...(next && toNow(address)) })}
        onBy={(by) => change({ by })}
        onFilter={filter}
        onColumn={(field) => change({ columns: toggleColumn(columns, field) })}
        onHeld={setHeld}
        pathAround={(line) => explorePath(around(address, line))}
      />
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Reads the lines and counts of an address. @param held automatic refreshes wait: lines that are looked at stay */
function useExplore(address: ExploreAddress, held: boolean) {
  const { live, at, by, refresh: seconds, from } = address;
  const [round, setRound] = useState(0);
  const [liveRound, setLiveRound] = useState(0);
  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const isRepeated = seconds !== undefined && from === undefined && !live && !held;
  useTimer(isRepeated ? seconds * 1_000 : undefined, refresh);
  useTimer(
    live ? LIVE_COUNT_MS : undefined,
    useCallback(() => setLiveRound((before) => before + 1), []),
  );
  const search = useSearchOf(address, round);
  const counted = useSearchOf(address, `${round} ${live ? liveRound : ''}`);
  const source = useSourceOf(search);
  const lines = useLines(source, at);
  // The newest page of lines comes before the counts. A search that is rejected has none.
  const isReady = !isRefused(lines.state) && (!lines.isOld || lines.state.kind === 'failed');
  return { search, source, lines, histogram: useHistogram(counted, by, isReady), refresh };
}

/** The search of an address. Another `round` resolves a range that ends now anew. */
function useSearchOf(address: ExploreAddress, round: number | string): Search {
  const zone = useZone();
  const { q, project, range, from, until } = address;
  const names = address.source.join(',');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is how the same is searched again
  return useMemo(() => {
    const nowMs = Date.now();
    const offsetMs = offsetOf(zone)(nowMs / 1000) * 1_000;
    const source = names === '' ? [] : names.split(',');
    return resolveSearch({ q, source, project, range, from, until }, nowMs, offsetMs);
  }, [q, names, project, range, from, until, zone, round]);
}

/** The source of a search's lines. Its tail goes on while only the range changes. */
function useSourceOf(search: Search): LineSource {
  const client = useClient();
  const { q, project } = search;
  const names = search.source.join(',');
  const tail = useMemo(
    () => createSearchTail({ q, project, source: names === '' ? [] : names.split(',') }),
    [q, project, names],
  );
  return useMemo(() => createSearchSource(client, search, tail), [client, search, tail]);
}

/** A live list ends now. */
function toNow({ range }: ExploreAddress): Partial<ExploreAddress> {
  return { range: range ?? '1h', from: undefined, until: undefined };
}

/** Shows the events around a line, for any search. */
function around(address: ExploreAddress, line: Line): Partial<ExploreAddress> {
  const { fromMs, untilMs } = rangeAround(line);
  return {
    ...address,
    ...toRange(fromMs, untilMs),
    q: '',
    project: line.project,
    live: false,
    at: formatAt(line),
  };
}

function toRange(fromMs: number, untilMs: number) {
  return { range: undefined, from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() };
}

/** Repeats work while the page is visible. */
function useTimer(everyMs: number | undefined, work: () => void): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) work();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, work]);
}

function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const act = isElsewhere(event) ? undefined : ownMember(keys, event.key);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
}

function focusQuery(): void {
  document
    .querySelector<HTMLElement>('.explore-query :is(input, textarea, [contenteditable="true"])')
    ?.focus();
}
