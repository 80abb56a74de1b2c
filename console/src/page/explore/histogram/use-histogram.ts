import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { toAnswer } from '../../../api/answer.ts';
import { type Client, useClient } from '../../../api/client.ts';
import { ownMember } from '../../../format/own.ts';
import type { Slice } from '../../../ui/lines/source.ts';
import { useWork, type WorkState } from '../../../ui/lines/use-work.ts';
import { hasSameEvents, type Search, searchPath } from '../search/search.ts';
import { floorTo, planCounts, planSlices } from '../search/slice.ts';

/** Events of one time bucket that have one value. */
export interface BucketCount {
  /** ms since the epoch. */
  readonly startMs: number;
  readonly value: string | null;
  readonly count: number;
}

interface Counted {
  readonly search: Search;
  readonly by: string;
  readonly counts: readonly BucketCount[];
  readonly slices: readonly Slice[];
  readonly slicesRead: number;
}

export interface Histogram extends Omit<Counted, 'slices'> {
  readonly state: WorkState;
  /** Whether the counts are earlier ones, which stay until there are new ones. */
  readonly isOld: boolean;
  readonly slices: number;
  /** Later time buckets are counted, ms since the epoch. */
  readonly backToMs: number;
  /** Continues after a stop or a failure. */
  readonly resume: () => void;
  readonly stop: () => void;
}

/** Counts the events of a search in time buckets, slice by slice. @param ready false: it waits, for the lines come first */
export function useHistogram(search: Search, by: string, ready: boolean): Histogram {
  const client = useClient();
  const { state, start, stop, reset } = useWork();
  const empty = useMemo(() => createCounted(search, by), [search, by]);
  const [counted, setCounted] = useState<Counted>(empty);
  const current = useRef(counted);
  current.current = counted;

  const countOn = useCallback(
    (from: Counted) =>
      start(async (signal) => {
        for (let next = from; next.slicesRead < next.slices.length; ) {
          next = await countSlice(client, next, signal);
          if (signal.aborted) return;
          setCounted(next);
        }
      }),
    [client, start],
  );
  useEffect(() => {
    if (ready) countOn(empty);
    else reset();
  }, [ready, empty, countOn, reset]);

  const isOld = counted.search !== search || counted.by !== by;
  // Earlier counts stay while the same events are counted again; for other events they would mislead.
  const shown = isOld && !(counted.by === by && hasSameEvents(counted.search, search)) ? empty : counted;
  return {
    ...shown,
    ...{ state, stop, isOld },
    slices: shown.slices.length,
    backToMs: shown.slices[shown.slicesRead - 1]?.fromMs ?? shown.search.untilMs,
    resume: () => countOn(isOld ? empty : current.current),
  };
}

function createCounted(search: Search, by: string): Counted {
  return { search, by, counts: [], slices: planSlices(search), slicesRead: 0 };
}

/** @throws ApiError */
async function countSlice(client: Client, counted: Counted, signal: AbortSignal): Promise<Counted> {
  const { search, by, slices, slicesRead } = counted;
  const { widthMs, offsetMs } = search;
  const found: BucketCount[] = [];
  const slice = slices[slicesRead];
  if (slice === undefined) return counted;
  for (const count of planCounts(slice, search)) {
    const path = searchPath(search, count, { part: 'histogram', by, buckets: String(count.buckets) });
    const { rows } = toAnswer(await client.callRaw(path, { signal }));
    for (const row of rows) {
      const value = ownMember(row, by) ?? null;
      found.push({
        startMs: floorTo(Number(row['timestamp']) / 1000, widthMs, offsetMs),
        value: value === null ? null : String(value),
        count: Number(row['count']),
      });
    }
  }
  return { ...counted, counts: [...counted.counts, ...found], slicesRead: slicesRead + 1 };
}
