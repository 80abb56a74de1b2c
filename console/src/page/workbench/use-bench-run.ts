import { useState } from 'react';
import { parseJson } from '../../api/answer.ts';
import { parseAnswer } from '../../api/client.ts';
import { type Run, useRun } from '../../api/use-run.ts';
import type { Answered, Files, RunRows } from './api.ts';

/** Both texts and the values of the parameters. */
export interface Question extends Files {
  readonly values: Readonly<Record<string, string>>;
}

interface Worker {
  readonly work: Run<Answered>;
  readonly start: (question: Question) => void;
  /** Ends it in the engine, too. */
  readonly stop: () => void;
}

const PATH = '/api/workbench/run';
const NEEDS = ['result', 'columns', 'parameters'] as const;

/** Runs questions; of two the later one counts. */
export function useAnswer(): Worker {
  const [{ round, body }, setAsked] = useState<{ readonly round: number; readonly body?: Question }>({
    round: 0,
  });
  const run = useRun<Answered>(
    body && {
      key: [PATH, round],
      async read(client, signal) {
        const raw = await client.callRaw(PATH, { method: 'POST', body, signal });
        return { ...parseAnswer<RunRows>(raw, NEEDS, parseJson), ms: raw.ms };
      },
    },
  );
  return {
    work: body === undefined && round > 0 ? { state: 'stopped' } : run,
    start: (question) => setAsked({ round: round + 1, body: question }),
    stop: () => setAsked({ round: round + 1 }),
  };
}
