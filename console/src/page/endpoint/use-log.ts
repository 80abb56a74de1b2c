import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { followTail } from '../../api/follow.ts';
import { type Answer, parseJson, type Row, toAnswer } from './answer.ts';
import { findBounds, type LogEntry, mergeEntries, toEntry } from './log.ts';
import { ENTRIES_MAX, type Read, readNewer, readOlder } from './log-reader.ts';
import { queryPath } from './use-run.ts';

export interface Log {
  readonly entries: readonly LogEntry[];
  readonly error: ApiError | undefined;
  /** Whether there may be entries before the oldest one. */
  readonly hasOlder: boolean;
  readonly busy: boolean;
  loadOlder(): void;
}

const EVERY_MS = 2_000;

/** The entries of an answer, extended by older and newer ones. */
export function useLog(
  endpoint: EndpointView,
  values: Readonly<Record<string, string>>,
  { answer, live }: { readonly answer: Answer; readonly live: boolean },
): Log {
  const client = useClient();
  const first = useMemo(() => answer.rows.map(toEntry), [answer]);
  const [entries, setEntries] = useState<readonly LogEntry[]>(first);
  const [error, setError] = useState<ApiError>();
  const [hasOlder, setHasOlder] = useState(first.length > 0);
  const [busy, setBusy] = useState(false);
  const { start, end } = useMemo(() => findBounds(endpoint), [endpoint]);
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: with another answer (`first`) it begins again
  useEffect(() => {
    if (!live || start === undefined) return;
    const take = (before: readonly LogEntry[], found: readonly LogEntry[]) => {
      setError(undefined);
      if (found.length === 0) return;
      setEntries((kept) => mergeEntries(kept, found, { max: ENTRIES_MAX, drop: 'oldest' }));
      // There may be older entries, and there are if the oldest were dropped from the list.
      if (before.length === 0 || before.length + found.length > ENTRIES_MAX) setHasOlder(true);
    };
    const fail = (failure: unknown) => {
      if (failure instanceof ApiError) setError(failure);
    };
    const catchUp = async (signal: AbortSignal) => {
      const before = shown.current;
      const found = await readNewer(read, { start, end, newest: before[0], signal });
      if (!signal.aborted) take(before, found);
    };
    if (!endpoint.live_tail) return repeat((signal) => catchUp(signal).catch(fail));
    const path = queryPath(endpoint.name, { ...values, ...(end !== undefined && { [end]: '' }) });
    return followTail(client, path, {
      catchUp,
      onOpen: () => setError(undefined),
      onRows: (rows) => take(shown.current, rows.map((row) => toEntry(parseJson(row) as Row)).reverse()), // of `columns`
      onFailure: fail,
    });
  }, [live, client, endpoint, values, read, start, end, first]);

  return { entries, error, hasOlder: hasOlder && end !== undefined, busy, loadOlder: () => void loadOlder() };
}

/** Repeats work with a pause in between while the page is visible. @returns a function that stops it */
function repeat(work: (signal: AbortSignal) => Promise<void>): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = async () => {
    if (!document.hidden) await work(signal);
    if (!signal.aborted) timer = setTimeout(() => void round(), EVERY_MS);
  };
  void round();
  return () => {
    controller.abort();
    clearTimeout(timer);
  };
}
