import { type RefObject, useEffect } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { followTail } from '../../api/follow.ts';
import type { Waiting } from '../../ui/use-waiting.ts';
import { parseJson, type Row } from './answer.ts';
import { findBounds, type LogEntry, toEntry } from './log.ts';
import { type Read, readNewer } from './log-reader.ts';
import { queryPath } from './query-path.ts';

interface LogTailOptions extends Pick<Waiting<LogEntry>, 'take' | 'drop'> {
  readonly live: boolean;
  /** Of the answer: with another one it begins again. */
  readonly first: readonly LogEntry[];
  readonly shown: RefObject<readonly LogEntry[]>;
  readonly read: Read;
  readonly onError: (error: ApiError | undefined) => void;
}

const EVERY_MS = 2_000;

/** Follows new entries: by a live tail, or by polling if the endpoint has none. */
export function useLogTail(
  endpoint: EndpointView,
  values: Readonly<Record<string, string>>,
  { live, first, shown, read, take, drop, onError }: LogTailOptions,
): void {
  const client = useClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: see `first`
  useEffect(() => {
    const { start, end } = findBounds(endpoint);
    if (!live || start === undefined) return;
    const onFailure = (failure: unknown) => {
      if (failure instanceof ApiError) onError(failure);
    };
    const catchUp = async (signal: AbortSignal) => {
      const found = await readNewer(read, { start, end, newest: shown.current[0], signal });
      if (signal.aborted) return;
      onError(undefined);
      if (found.length > 0) take(found);
    };
    const path = queryPath(endpoint.name, { ...values, ...(end !== undefined && { [end]: '' }) });
    const follow = () =>
      followTail(client, path, {
        ...{ catchUp, onFailure, onOpen: () => onError(undefined) },
        onRows: (rows) => take(rows.map((row) => toEntry(parseJson(row) as Row)).reverse()), // of `columns`
      });
    const stop = endpoint.live_tail ? follow() : repeat((signal) => catchUp(signal).catch(onFailure));
    return () => {
      stop();
      drop();
    };
  }, [live, client, endpoint, values, read, first, take, drop]);
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
