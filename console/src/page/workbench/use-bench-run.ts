import { useState } from 'react';
import { parseJson } from '../../api/answer.ts';
import { type Needs, parseAnswer } from '../../api/client.ts';
import { type Run, useRun } from '../../api/use-run.ts';
import type { Answered, Files, RunRows, Timed } from './api.ts';

/** Both texts and the values of the parameters. */
export interface Question extends Files {
  readonly values: Readonly<Record<string, string>>;
}

interface Worker<T> {
  readonly work: Run<T>;
  readonly start: (question: Question) => void;
  /** Ends it in the engine, too. */
  readonly stop: () => void;
}

const RUN_NEEDS = ['result', 'columns', 'parameters'] as const;
const PLAN_NEEDS = ['plan'] as const;

export function useAnswer(): Worker<Answered> {
  return useWork<RunRows>('/api/workbench/run', RUN_NEEDS);
}

export function usePlan(): Worker<{ readonly plan: string }> {
  return useWork<{ readonly plan: string }>('/api/workbench/plan', PLAN_NEEDS);
}

/** Sends questions to a path; of two the later one counts. */
function useWork<T>(path: string, needs: Needs<T>): Worker<T & Timed> {
  const [{ round, body }, setAsked] = useState<{ readonly round: number; readonly body?: Question }>({
    round: 0,
  });
  const run = useRun<T & Timed>(
    body && {
      key: [path, round],
      async read(client, signal) {
        const raw = await client.callRaw(path, { method: 'POST', body, signal });
        return { ...parseAnswer<T>(raw, needs, parseJson), ms: raw.ms };
      },
    },
  );
  return {
    work: body === undefined && round > 0 ? { state: 'stopped' } : run,
    start: (question) => setAsked({ round: round + 1, body: question }),
    stop: () => setAsked({ round: round + 1 }),
  };
}
