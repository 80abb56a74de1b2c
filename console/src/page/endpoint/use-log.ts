import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { useWaiting, type Waiting } from '../../ui/use-waiting.ts';
import { type Answer, toAnswer } from './answer.ts';
import { findBounds, type LogEntry, mergeEntries, toEntry } from './log.ts';
import { ENTRIES_MAX, type Read, readOlder } from './log-reader.ts';
import { queryPath } from './query-path.ts';
import { useLogTail } from './use-log-tail.ts';

export interface Log extends Pick<Waiting<LogEntry>, 'count' | 'show'> {
  readonly entries: readonly LogEntry[];
  readonly error: ApiError | undefined;
  /** Whether there may be entries before the oldest one. */
  readonly hasOlder: boolean;
  readonly busy: boolean;
  loadOlder(): void;
}

/** The entries of an answer, extended by older and newer ones. @param held newer ones wait */
export function useLog(
  endpoint: EndpointView,
  values: Readonly<Record<string, string>>,
  { answer, live, held }: { readonly answer: Answer; readonly live: boolean; readonly held: boolean },
): Log {
  const client = useClient();
  const first = useMemo(() => answer.rows.map(toEntry), [answer]);
  const [entries, setEntries] = useState<readonly LogEntry[]>(first);
  const [error, setError] = useState<ApiError>();
  const [hasOlder, setHasOlder] = useState(first.length > 0);
  const [busy, setBusy] = useState(false);
  const { end } = useMemo(() => findBounds(endpoint), [endpoint]);
  const shown = useRef(entries);
  shown.current = entries;
  const current = useRef<AbortSignal>(undefined);

  // Entries that are still being read for the previous answer must not be added to this one.
  useEffect(() => {
    const controller = new AbortController();
    current.current = controller.signal;
    shown.current = first; // the next read uses it
    setEntries(first);
    setHasOlder(first.length > 0);
    setBusy(false);
    setError(undefined);
    return () => controller.abort();
  }, [first]);

  const read: Read = useCallback(
    async (change, signal) => {
      const raw = await client.callRaw(queryPath(endpoint.name, { ...values, ...change }), { signal });
      return toAnswer(raw).rows.map(toEntry);
    },
    [client, endpoint.name, values],
  );

  const loadOlder = async () => {
    const { current: signal } = current;
    if (end === undefined || signal === undefined) return;
    setBusy(true);
    try {
      const found = await readOlder(read, { end, shown: shown.current, signal });
      if (signal.aborted) return;
      setHasOlder(found.length > 0);
      setEntries((kept) => mergeEntries(kept, found, { max: ENTRIES_MAX, drop: 'newest' }));
      setError(undefined);
    } catch (failure) {
      if (signal.aborted) return;
      if (failure instanceof ApiError) setError(failure);
    }
    setBusy(false);
  };

  const onItems = useCallback((found: readonly LogEntry[]) => {
    const before = shown.current;
    setEntries((kept) => mergeNewer(kept, found));
    // There may be older entries, and there are if the oldest were dropped from the list.
    if (before.length === 0 || before.length + found.length > ENTRIES_MAX) setHasOlder(true);
  }, []);
  const { count, take, show, drop } = useWaiting({
    ...{ held, merge: mergeNewer, onItems, shown: entries },
    keyOf: ({ id }) => id,
  });

  useLogTail(endpoint, values, { live, first, shown, read, take, drop, onError: setError });

  return {
    ...{ entries, error, busy, count, show },
    hasOlder: hasOlder && end !== undefined,
    loadOlder: () => void loadOlder(),
  };
}

function mergeNewer(kept: readonly LogEntry[], found: readonly LogEntry[]): readonly LogEntry[] {
  return mergeEntries(kept, found, { max: ENTRIES_MAX, drop: 'oldest' });
}
