import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { offsetOf } from '../../format/time-axis.ts';
import { useZone } from '../../preference.ts';
import type { ExploreAddress } from './address.ts';
import { parseMeasure } from './histogram/measure.ts';
import { useHistogram } from './histogram/use-histogram.ts';
import type { LineSource } from './lines/read.ts';
import { useLines } from './lines/use-lines.ts';
import { isRefused } from './lines/use-work.tsx';
import { createSearchSource, createSearchTail, resolveSearch, type Search } from './search/search.ts';

const LIVE_COUNT_MS = 10_000;

/** Reads the lines and counts of an address. */
export function useExplore(address: ExploreAddress) {
  const { live, at, by, top } = address;
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
  const lines = useLines(source, at);
  // The newest page of lines comes before the counts. A search that is rejected has none.
  const isReady = !isRefused(lines.state) && (!lines.isOld || lines.state.kind === 'failed');
  const chart = useMemo(
    () => ({ by, top, measure: parseMeasure(address.measure) }),
    [by, top, address.measure],
  );
  const histogram = useHistogram(counted, chart, isReady);
  return { search, source, lines, histogram, refresh };
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
