import { useEffect, useRef, useState } from 'react';
import { ApiError, useClient } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';
import { type Answer, toAnswer } from './answer.ts';

export type Run =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly before: Answer | undefined }
  | { readonly state: 'done'; readonly answer: Answer }
  | { readonly state: 'failed'; readonly error: ApiError };

/** The path of an endpoint with its parameters. */
export function queryPath(name: string, values: Readonly<Record<string, string>>): string {
  return `/api/endpoints/query/${encodeURIComponent(name)}?${new URLSearchParams(values)}`;
}

/**
 * Runs an endpoint whenever `path` or `round` changes; aborts the previous run, in the engine too.
 *
 * @param path undefined: nothing to run yet
 * @param fresh bypasses the cache
 */
export function useRun(path: string | undefined, round: number, fresh: boolean): Run {
  const client = useClient();
  const [run, setRun] = useState<Run>({ state: 'idle' });
  const raise = useRaise();
  const isFresh = useRef(fresh);
  isFresh.current = fresh;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is how the same is run again
  useEffect(() => {
    if (path === undefined) {
      setRun({ state: 'idle' });
      return;
    }
    const controller = new AbortController();
    const headers: Record<string, string> = isFresh.current ? { 'cache-control': 'no-cache' } : {};
    setRun((last) => ({ state: 'running', before: last.state === 'done' ? last.answer : undefined }));
    client
      .callRaw(path, { signal: controller.signal, headers })
      .then((raw) => {
        if (!controller.signal.aborted) setRun({ state: 'done', answer: toAnswer(raw) });
      })
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        if (error instanceof ApiError) setRun({ state: 'failed', error });
        else raise(error);
      });
    return () => controller.abort();
  }, [client, path, round, raise]);
  return run;
}
