import { useMemo, useState } from 'react';
import { parseJson } from '../../api/answer.ts';
import { parseAnswer } from '../../api/client.ts';
import { useRun } from '../../api/use-run.ts';
import { fillIn } from '../endpoint/parameter-control.tsx';
import { type Answered, type Files, type RunRows, toFaults } from './api.ts';
import { readOutline } from './definition.ts';
import type { Check } from './use-check.ts';

/** Both texts and the values of the parameters. */
export interface Question extends Files {
  readonly values: Readonly<Record<string, string>>;
}

const PATH = '/api/workbench/run';
const NEEDS = ['result', 'columns', 'parameters'] as const;

/** Runs the texts; of two runs the later one counts. */
export function useBenchRun(files: Files, check: Check, entered: Readonly<Record<string, string>>) {
  const [{ round, asked }, setAsked] = useState<{ readonly round: number; readonly asked?: Question }>({
    round: 0,
  });
  const run = useRun<Answered>(
    asked && {
      key: [PATH, round],
      async read(client, signal) {
        const raw = await client.callRaw(PATH, { method: 'POST', body: asked, signal });
        return { ...parseAnswer<RunRows>(raw, NEEDS, parseJson), ms: raw.ms, values: asked.values };
      },
    },
  );
  const values = useMemo(() => fillIn(check.parameters, entered), [check.parameters, entered]);
  const question = () => {
    // A run may come before the first check, which says what parameters there are.
    const { parameters } = readOutline(files.definition);
    const early = Object.entries(entered).filter(([name]) => parameters.some((one) => one.name === name));
    const all = { ...Object.fromEntries(early), ...values };
    return { ...files, values: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')) };
  };
  const answer = asked === undefined && round > 0 ? ({ state: 'stopped' } as const) : run;
  // Faults that a run found are of the texts that ran.
  const isOfThese = asked?.sql === files.sql && asked.definition === files.definition;
  const found = answer.state === 'failed' && isOfThese ? toFaults(answer.error.errors) : undefined;
  const hasFaults = check.faults.sql.length + check.faults.definition.length > 0;
  return {
    answer,
    /** What the answer is of. */
    asked,
    values,
    faults: hasFaults || found === undefined ? check.faults : found,
    start: () => setAsked({ round: round + 1, asked: question() }),
    /** Ends it in the engine, too. */
    stop: () => setAsked({ round: round + 1 }),
  };
}
