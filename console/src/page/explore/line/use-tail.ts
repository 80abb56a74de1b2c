import { useEffect, useRef, useState } from 'react';
import { ApiError, type Client, useClient } from '../../../api/client.ts';
import { followTail } from '../../../api/follow.ts';
import { useWaiting, type Waiting } from '../../../ui/use-waiting.ts';
import { parseJson, type Row, toAnswer } from '../../endpoint/answer.ts';
import { findNext, type Search, searchPath } from '../search/search.ts';
import { LINES_MAX, type Line, mergeLines, toLine } from './line.ts';

interface TailOptions {
  readonly live: boolean;
  /** New lines wait. */
  readonly held: boolean;
  readonly shown: readonly Line[];
  readonly onLines: (lines: readonly Line[]) => void;
}

export interface Tail extends Pick<Waiting<Line>, 'count' | 'show'> {
  readonly error: ApiError | undefined;
}

/** Follows the new lines of a search. */
export function useTail(search: Search, { live, held, shown, onLines }: TailOptions): Tail {
  const client = useClient();
  const { count, take, show, drop } = useWaiting({
    ...{ held, merge: mergeLines, onItems: onLines, shown },
    keyOf: ({ key }) => key,
  });
  const [error, setError] = useState<ApiError>();
  const { q, source, project } = search;
  const names = source.join(',');
  const newest = useRef(shown[0]);
  newest.current = shown[0];

  useEffect(() => {
    if (!live) return;
    const asked = { q, source: names.split(','), project };
    const stop = followTail(client, searchPath(asked, undefined, {}), {
      catchUp: async (signal) => take(await readSince(client, asked, { line: newest.current, signal })),
      onOpen: () => setError(undefined),
      onRows: (rows) => take(rows.map((row) => toLine(parseJson(row) as Row))), // of a search
      onFailure: (failure) => {
        if (failure instanceof ApiError) setError(failure);
      },
    });
    return () => {
      stop();
      setError(undefined);
      drop();
    };
  }, [live, client, q, names, project, take, drop]);
  return { count, show, error };
}

const CATCH_UP_MS = 60_000;
const CATCH_UP_ROWS = '1000';

interface Since {
  readonly line: Line | undefined;
  readonly signal: AbortSignal;
}

/** The lines since one, at most `LINES_MAX`; without one those of the last minute. @throws ApiError */
async function readSince(
  client: Client,
  asked: Pick<Search, 'q' | 'source' | 'project'>,
  { line, signal }: Since,
): Promise<readonly Line[]> {
  const untilMs = Date.now() + CATCH_UP_MS; // clocks of senders may be ahead
  const fromMs = line === undefined ? Date.now() - CATCH_UP_MS : Math.floor(line.micros / 1000);
  let lines: readonly Line[] = [];
  let cursor: string | undefined;
  do {
    const more = { limit: CATCH_UP_ROWS, ...(cursor !== undefined && { cursor }) };
    const raw = await client.callRaw(searchPath(asked, { fromMs, untilMs }, more), { signal });
    lines = mergeLines(lines, toAnswer(raw).rows.map(toLine));
    cursor = findNext(raw.headers);
  } while (cursor !== undefined && lines.length < LINES_MAX);
  return lines;
}
