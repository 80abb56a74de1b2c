import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { offsetOf } from '../../format/time-axis.ts';
import { useZone } from '../../preference.ts';
import type { LineSource } from '../../ui/lines/read.ts';
import { useLines } from '../../ui/lines/use-lines.ts';
import type { ListPlace } from '../../ui/lines/use-place.ts';
import { isRefused } from '../../ui/lines/use-work.tsx';
import { type ExploreAddress, formatAddress } from './address.ts';
import { isAdditive, parseMeasure } from './histogram/measure.ts';
import { useHistogram } from './histogram/use-histogram.ts';
import {
  createSearchSource,
  createSearchTail,
  resolveSearch,
  type Search,
  toBefore,
} from './search/search.ts';

const LIVE_COUNT_MS = 10_000;

/** Reads the lines and counts of an address. */
export function useExplore(address: ExploreAddress) {
  const { live, at, by, top, before } = address;
  const [round, setRound] = useState(0);
  const [liveRound, setLiveRound] = useState(0);
  const refresh = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (!live) return;
    const count = () => {
      if (!document.hidden) setLiveRound((before) => before + 1);
    };
    const timer = setInterval(count, LIVE_COUNT_MS);
    return () => clearInterval(timer);
  }, [live]);
  const search = useSearchOf(address, round);
  const counted = useSearchOf(address, `${round} ${live ? liveRound : ''}`);
  const source = useSourceOf(search);
  const kept = useListPlace(address, round);
  const lines = useLines(source, at || (kept.place?.at ?? ''));
  // The newest page of lines comes before the counts. A search that is rejected has none.
  const isReady = !isRefused(lines.state) && (!lines.isOld || lines.state.kind === 'failed');
  const chart = useMemo(
    () => ({ by, top, measure: parseMeasure(address.measure) }),
    [by, top, address.measure],
  );
  const histogram = useHistogram(counted, chart, isReady);
  const earlier = useMemo(() => toBefore(counted), [counted]);
  // Lines beside each other have no sum to draw.
  const hasBefore = before && isAdditive(chart.measure);
  const isCounted = hasBefore && histogram.state.kind === 'done';
  const beforeHistogram = useHistogram(earlier, chart, isCounted);
  return { search, source, lines, histogram, before: hasBefore ? beforeHistogram : undefined, refresh, kept };
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

interface KeptPlace {
  /** Where the list was when this entry of the history was left; undefined for a new one, and once it is read again. */
  readonly place: ListPlace | undefined;
  readonly keep: (place: ListPlace) => void;
}

/** Keeps the place of the list with the entry of the browser's history, so that going back returns to it. @param round of the reads */
function useListPlace(address: ExploreAddress, round: number): KeptPlace {
  // What only changes how lines are shown replaces the entry, and the lines stay.
  const { q, source, project, range, from, until, at } = address;
  const searched = formatAddress({ q, source, project, range, from, until, at });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each search, before anything is kept
  const found = useMemo(() => ({ place: readPlace(), round }), [searched]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search is another entry
  const keep = useCallback(
    (place: ListPlace) => history.replaceState({ ...history.state, place }, ''),
    [searched],
  );
  return { place: found.round === round && at === '' ? found.place : undefined, keep };
}

function readPlace(): ListPlace | undefined {
  const { place } = (history.state ?? {}) as { readonly place?: ListPlace }; // only `keep` writes it
  return place;
}
