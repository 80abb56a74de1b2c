import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { DraftCheck } from '../../../../src/management/view.ts';
import { parseJson } from '../../api/answer.ts';
import { ApiError, type Client, parseAnswer, useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { useRun } from '../../api/queries.ts';
import { fillIn } from '../endpoint/parameter-control.tsx';
import { type Answered, type FileFaults, type Files, NO_FAULTS, type RunRows, toFaults } from './api.ts';
import { readOutline } from './definition.ts';

const DELAY_MS = 500;

export interface Check {
  /** Whether the result is of the text as it is now. */
  readonly isCurrent: boolean;
  readonly faults: FileFaults;
  /** The parameters of the last text without a fault in its definition. */
  readonly parameters: DraftCheck['parameters'];
  readonly columns: DraftCheck['columns'];
  /** A failure that is not a fault of the texts. */
  readonly error: ApiError | undefined;
}

/** Checks the two texts now. @throws ApiError, also for faults that leave nothing to check */
export function checkFiles(client: Client, files: Files, signal?: AbortSignal): Promise<DraftCheck> {
  return client.call<DraftCheck>('/api/workbench/check', ['parameters', 'columns', 'errors'], {
    method: 'POST',
    body: files,
    ...(signal !== undefined && { signal }),
  });
}

interface Found extends Pick<Check, 'faults'>, Partial<Pick<Check, 'parameters' | 'columns'>> {}

/** Checks the two texts when they have been left alone for half a second. */
export function useCheck({ definition, sql }: Files): Check {
  const client = useClient();
  const { data, error, isPlaceholderData, isPending } = useQuery({
    queryKey: ['/api/workbench/check', definition, sql],
    async queryFn({ signal }): Promise<Found> {
      await pause(DELAY_MS, signal);
      try {
        const { columns, errors, parameters } = await checkFiles(client, { definition, sql }, signal);
        // A definition with faults has no parameters: their form stays while it is being written.
        const isBroken = errors.length > 0 && parameters.length === 0;
        return { faults: toFaults(errors), columns, ...(!isBroken && { parameters }) };
      } catch (failure) {
        const faults = toFaults(failure instanceof ApiError ? failure.errors : []);
        if (faults.definition.length + faults.sql.length === 0) throw failure;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0, // a text is rarely the same again
  });
  const known = useRef<Pick<Check, 'parameters' | 'columns'>>({ parameters: [], columns: [] });
  known.current = {
    parameters: data?.parameters ?? known.current.parameters,
    columns: data?.columns ?? known.current.columns,
  };
  return {
    ...known.current,
    faults: data?.faults ?? NO_FAULTS,
    error: error ?? undefined,
    isCurrent: !isPlaceholderData && !isPending,
  };
}

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
