import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { ownMember } from '../../format/own.ts';
import { offsetOf } from '../../format/time-axis.ts';
import { useZone } from '../../preference.ts';
import { type ExploreAddress, explorePath } from './address.ts';
import './explore.css';
import { ExploreHead } from './explore-head.tsx';
import { HistogramPanel } from './histogram/histogram.tsx';
import { useHistogram } from './histogram/use-histogram.ts';
import { KeyHelp } from './key-help.tsx';
import { formatAt } from './line/at.ts';
import type { Line } from './line/line.ts';
import { LinePanel } from './line/line-panel.tsx';

import { isElsewhere } from './line/use-line-keys.ts';
import { useLines } from './line/use-lines.ts';
import { resolveSearch, type Search } from './search/search.ts';
import { isRefused } from './search/use-work.ts';
import { addTerm } from './term.ts';
import { useAddress } from './use-address.ts';
import { useFields } from './use-fields.ts';

const LIVE_COUNT_MS = 10_000;

/** Searches the events of every source: a chart of when they happened, and their lines. */
export function ExplorePage() {
  const [given, change] = useAddress();
  const pinned = useClient().self.pins['project'];
  const address = useMemo(() => ({ ...given, project: pinned ?? given.project }), [given, pinned]);
  const { columns } = address;
  const [isHeld, setHeld] = useState(false);
  const [help, setHelp] = useState(false);
  const { search, lines, histogram, refresh } = useExplore(address, isHeld);
  const isRunning = [lines, histogram].some(({ state }) => state.kind === 'running');
  const fields = useFields(search, lines.lines);

  useKeys({ '?': () => setHelp(true), '/': focusQuery });
  const filter = (term: string) => change({ q: addTerm(address.q, term) });
  const onColumn = (field: string) =>
    change({
      columns: columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field],
    });
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
      <LinePanel
        address={address}
        search={search}
        lines={lines}
        fields={fields}
        onChange={change}
        onFilter={filter}
        onColumn={onColumn}
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
  const lines = useLines(search, at);
  // The newest page of lines comes before the counts. A search that is rejected has none.
  const isReady = !isRefused(lines.state) && (!lines.isOld || lines.state.kind === 'failed');
  return { search, lines, histogram: useHistogram(counted, by, isReady), refresh };
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

const AROUND_MS = 2 * 60_000;

/** Shows the events around a line, for any search. */
function around(address: ExploreAddress, line: Line): Partial<ExploreAddress> {
  const ms = Math.floor(line.micros / 1000);
  return {
    ...address,
    ...toRange(ms - AROUND_MS, ms + AROUND_MS),
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
