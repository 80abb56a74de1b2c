import { useCallback, useEffect, useMemo, useState } from 'react';
import { type Row, toAnswer } from '../../../api/answer.ts';
import { type Client, useClient } from '../../../api/client.ts';
import { ownMember } from '../../../format/own.ts';
import type { ExploreAddress } from '../address.ts';
import { useWork } from '../lines/use-work.tsx';
import { hasSameEvents, type Search, searchPath } from '../search/search.ts';
import { floorTo, planCounts, planSlices, type Slice } from '../search/slice.ts';
import { isAdditive } from './measure.ts';

/** Events of one time bucket that have one value. */
export interface BucketCount {
  /** ms since the epoch. */
  readonly startMs: number;
  /** Undefined: all others. */
  readonly value: string | null | undefined;
  readonly count: number;
  /** What the chart shows of them; the count if undefined. */
  readonly amount?: number;
}

export type Chart = Pick<ExploreAddress, 'by' | 'measure' | 'top'>;

interface Counted {
  readonly search: Search;
  readonly chart: Chart;
  readonly counts: readonly BucketCount[];
  readonly slices: readonly Slice[];
  readonly slicesRead: number;
}

export type Histogram = ReturnType<typeof useHistogram>;

/** Counts the events of a search in time buckets, slice by slice. @param ready false: it waits, for the lines come first */
export function useHistogram(search: Search, chart: Chart, ready: boolean) {
  const client = useClient();
  const { state, start, stop, reset } = useWork();
  const empty: Counted = useMemo(
    () => ({ search, chart, counts: [], slices: planSlices(search), slicesRead: 0 }),
    [search, chart],
  );
  const [counted, setCounted] = useState(empty);

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

  const isOld = counted.search !== search || counted.chart !== chart;
  // Earlier counts stay while the same events are counted again; for other events they would mislead.
  const shown =
    isOld && !(counted.chart === chart && hasSameEvents(counted.search, search)) ? empty : counted;
  return {
    ...shown,
    ...{ state, stop },
    /** Whether the counts are earlier ones, which stay until there are new ones. */
    isOld,
    slices: shown.slices.length,
    /** Later time buckets are counted, ms since the epoch. */
    backToMs: shown.slices[shown.slicesRead - 1]?.fromMs ?? shown.search.untilMs,
    /** Continues after a stop or a failure. */
    resume: () => countOn(isOld ? empty : counted),
  };
}

/** @throws ApiError */
async function countSlice(client: Client, counted: Counted, signal: AbortSignal): Promise<Counted> {
  const { search, chart, slices, slicesRead } = counted;
  const { widthMs, offsetMs } = search;
  const { by, measure, top } = chart;
  // Values that cannot be added need the rest as one series of the service.
  const shown = String(top ?? (isAdditive(measure) ? '' : TOP_DEFAULT));
  const found: BucketCount[] = [];
  const slice = slices[slicesRead];
  if (slice === undefined) return counted;
  for (const count of planCounts(slice, search)) {
    const more = { part: 'histogram', by, measure, top: shown, buckets: String(count.buckets) };
    const path = searchPath(search, count, more);
    const { rows } = toAnswer(await client.callRaw(path, { signal }));
    for (const row of rows) {
      found.push({
        startMs: floorTo(Number(row['timestamp']) / 1000, widthMs, offsetMs),
        value: seriesOf(row, by),
        count: Number(row['count']),
        ...('value' in row && measure !== '' && { amount: Number(row['value']) }),
      });
    }
  }
  return { ...counted, counts: [...counted.counts, ...found], slicesRead: slicesRead + 1 };
}

const TOP_DEFAULT = 8;
/** The service's name of the rest, unless `top` is asked for. */
const OTHER = '(other)';

/** The value of a series; undefined for all others together. */
function seriesOf(row: Row, by: string): string | null | undefined {
  const value = ownMember(row, by) ?? null;
  if (row['other'] === true || value === OTHER) return undefined;
  return value === null ? null : String(value);
}
