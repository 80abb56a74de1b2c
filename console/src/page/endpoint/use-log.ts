import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/http/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { fromMicros } from '../../format/time.ts';
import { type Answer, toAnswer } from './answer.ts';
import { findBounds, type LogEntry, mergeEntries, olderThan, toEntry } from './log.ts';
import { queryPath } from './use-run.ts';

export interface Log {
  readonly entries: readonly LogEntry[];
  readonly error: ApiError | undefined;
  /** Whether entries before the oldest one may exist. */
  readonly hasOlder: boolean;
  readonly busy: boolean;
  loadOlder(): void;
}

const EVERY_MS = 2_000;
// What a browser lists and searches with ease.
const ENTRIES_MAX = 10_000;

type Read = (change: Readonly<Record<string, string>>, signal?: AbortSignal) => Promise<LogEntry[]>;

/** The entries of an answer, with those before and after it as they are asked for. */
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

  useEffect(() => {
    setEntries(first);
    setHasOlder(first.length > 0);
    setError(undefined);
  }, [first]);

  const read: Read = useCallback(
    async (change, signal) => {
      const raw = await client.callRaw(queryPath(endpoint.name, { ...values, ...change }), { signal });
      return toAnswer(raw).rows.map(toEntry);
    },
    [client, endpoint.name, values],
  );

  const loadOlder = async () => {
    if (end === undefined) return;
    setBusy(true);
    try {
      const found = await readOlder(read, end, shown.current);
      setHasOlder(found.length > 0);
      setEntries((kept) => mergeEntries(kept, found, { max: ENTRIES_MAX, drop: 'newest' }));
      setError(undefined);
    } catch (failure) {
      if (failure instanceof ApiError) setError(failure);
    }
    setBusy(false);
  };

  useEffect(() => {
    if (!live || start === undefined) return;
    return repeat(async (signal) => {
      try {
        const found = await readNewer(read, { start, end, newest: shown.current[0], signal });
        if (signal.aborted) return;
        if (found.length > 0)
          setEntries((kept) => mergeEntries(kept, found, { max: ENTRIES_MAX, drop: 'oldest' }));
        setError(undefined);
      } catch (failure) {
        if (failure instanceof ApiError) setError(failure);
      }
    });
  }, [live, read, start, end]);

  return { entries, error, hasOlder: hasOlder && end !== undefined, busy, loadOlder: () => void loadOlder() };
}

/** Those before the oldest that is shown; none where there are no more. */
async function readOlder(read: Read, end: string, shown: readonly LogEntry[]): Promise<LogEntry[]> {
  const oldest = shown.at(-1);
  if (oldest === undefined) return [];
  const known = new Set(shown.map((entry) => entry.id));
  const found = (await read({ [end]: olderThan(oldest, false) })).filter((entry) => !known.has(entry.id));
  // Everything of that microsecond has been seen: go on before it.
  return found.length > 0 ? found : await read({ [end]: olderThan(oldest, true) });
}

interface Newer {
  readonly start: string;
  readonly end: string | undefined;
  readonly newest: LogEntry | undefined;
  readonly signal: AbortSignal;
}

/** Those since the newest that is shown. The bound is exclusive, but others of the same microsecond may have come since. */
async function readNewer(read: Read, { start, end, newest, signal }: Newer): Promise<LogEntry[]> {
  const after = newest === undefined ? {} : { [start]: fromMicros(newest.micros - 1) };
  return await read({ ...after, ...(end !== undefined && { [end]: '' }) }, signal);
}

/** Does work again and again while the page is looked at, with a pause between. @returns what stops it */
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
