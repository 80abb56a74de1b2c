import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, type Needs, parseAnswer, useClient } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';
import { parseJson } from '../endpoint/answer.ts';
import type { Answered, Files } from './api.ts';

/** Both texts and the values of the parameters. */
export interface Question extends Files {
  readonly values: Readonly<Record<string, string>>;
}

export type Work<T> =
  | { readonly state: 'idle' | 'stopped' }
  | { readonly state: 'running'; readonly before: T | undefined }
  | { readonly state: 'done'; readonly value: T; readonly ms: number }
  | { readonly state: 'failed'; readonly error: ApiError };

interface Worker<T> {
  readonly work: Work<T>;
  readonly start: (question: Question) => void;
  /** Ends it in the engine, too. */
  readonly stop: () => void;
}

const RUN_NEEDS = ['result', 'columns', 'parameters'] as const;
const PLAN_NEEDS = ['plan'] as const;

export function useAnswer(): Worker<Answered> {
  return useWork<Answered>('/api/workbench/run', RUN_NEEDS);
}

export function usePlan(): Worker<{ readonly plan: string }> {
  return useWork<{ readonly plan: string }>('/api/workbench/plan', PLAN_NEEDS);
}

/** Sends runs to a path; of two the later one counts. */
function useWork<T>(path: string, needs: Needs<T>): Worker<T> {
  const client = useClient();
  const [work, setWork] = useState<Work<T>>({ state: 'idle' });
  const raise = useRaise();
  const running = useRef<AbortController>(undefined);

  const start = useCallback(
    (body: Question) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      setWork((last) => ({ state: 'running', before: last.state === 'done' ? last.value : undefined }));
      client
        .callRaw(path, { method: 'POST', body, signal })
        .then((raw) => {
          const value = parseAnswer<T>(raw, needs, parseJson);
          if (!signal.aborted) setWork({ state: 'done', value, ms: raw.ms });
        })
        .catch((error: unknown) => {
          if (signal.aborted) return;
          if (error instanceof ApiError) setWork({ state: 'failed', error });
          else raise(error);
        });
    },
    [client, path, needs, raise],
  );
  const stop = useCallback(() => {
    running.current?.abort();
    setWork({ state: 'stopped' });
  }, []);
  useEffect(() => () => running.current?.abort(), []);
  return { work, start, stop };
}
