import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { DraftCheck, RunReport } from '../../../../src/management/workbench-view.ts';
import { parseJson, type Row } from '../../api/answer.ts';
import { ApiError, parseAnswer } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { useClient, useRun } from '../../api/queries.ts';
import type { Fault } from '../../ui/editor/code-mirror.tsx';
import { fillIn } from '../endpoint/parameter-control.tsx';
import { readOutline } from './definition.ts';
import { actionPath, type DefinitionKind, type Texts } from './work.ts';

const DELAY_MS = 500;

export type FileFaults = Readonly<Record<keyof Texts, readonly Fault[]>>;

/** `definition`, and `sql` of an endpoint: routes reject unknown members. */
type Checked = Pick<Texts, 'definition'> & Partial<Pick<Texts, 'sql'>>;

/** The response to a check, of which kinds of definitions have parts. */
type Found = Pick<DraftCheck, 'errors'> & Partial<DraftCheck>;

export type Check = ReturnType<typeof useCheck>;

/** Checks texts, if that is wanted, when they have been left alone for half a second. */
export function useCheck(kind: DefinitionKind, body: Checked, isWanted = true) {
  const client = useClient();
  const path = actionPath(kind, 'check');
  const { data, error, isPlaceholderData, isPending } = useQuery({
    queryKey: [path, body],
    async queryFn({ signal }): Promise<Found> {
      await pause(DELAY_MS, signal);
      try {
        return await client.post<Found>(path, ['errors'], body, signal);
      } catch (failure) {
        const errors = failure instanceof ApiError ? failure.errors : [];
        if (errors.some(({ parameter }) => parameter === 'definition' || parameter === 'sql'))
          return { errors: errors as Found['errors'] }; // those of other members are not shown
        throw failure;
      }
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0, // a text is rarely the same again
  });
  const known = useRef<Pick<DraftCheck, 'parameters' | 'columns'>>({ parameters: [], columns: [] });
  const { errors, parameters = [], columns } = data ?? {};
  // A definition with faults has no parameters: their form stays while it is being written.
  const isBroken = errors === undefined || (errors.length > 0 && parameters.length === 0);
  known.current = {
    parameters: isBroken ? known.current.parameters : parameters,
    columns: columns ?? known.current.columns,
  };
  return {
    /** Those of the last text without a fault in its definition. */
    ...known.current,
    faults: useMemo(() => toFaults(errors), [errors]),
    /** A failure that is not a fault of the texts. */
    error,
    isCurrent: !isPlaceholderData && !isPending,
    /** The response, with what a kind of definition adds. */
    found: data,
  };
}

function toFaults(errors: ApiError['errors'] = []): FileFaults {
  const of = (file: keyof Texts) => errors.filter(({ parameter }) => parameter === file);
  return { definition: of('definition'), sql: of('sql'), test: [] };
}

export interface Question extends Pick<Texts, 'definition' | 'sql'> {
  readonly values: Readonly<Record<string, string>>;
}

/** The rows of a run. `ms`: the round trip; `values`: those of the parameters. */
export interface Answered extends RunReport {
  readonly rows: readonly Row[];
  readonly ms: number;
  readonly values: Readonly<Record<string, string>>;
}

const PATH = '/api/workbench/run';

/** Runs the texts; of two runs the later one counts. */
export function useBenchRun({ definition, sql }: Texts, check: Check, entered: Question['values']) {
  const [{ round, asked }, setAsked] = useState<{ readonly round: number; readonly asked?: Question }>({
    round: 0,
  });
  const run = useRun(asked && [PATH, round], async (client, signal): Promise<Answered> => {
    const raw = await client.callRaw(PATH, { method: 'POST', body: asked, signal });
    const needs = ['result', 'columns', 'parameters'] as const;
    const { result, ...report } = parseAnswer<RunReport & { result: Row[] }>(raw, needs, parseJson);
    return { ...report, rows: result, ms: raw.ms, values: asked?.values ?? {} };
  });
  const values = useMemo(() => fillIn(check.parameters, entered), [check.parameters, entered]);
  const question = (): Question => {
    // A run may come before the first check, which says what parameters there are.
    const { parameters } = readOutline(definition);
    const early = Object.entries(entered).filter(([name]) => parameters.some((one) => one.name === name));
    const all = { ...Object.fromEntries(early), ...values };
    const given = Object.entries(all).filter(([, value]) => value !== '');
    return { definition, sql, values: Object.fromEntries(given) };
  };
  const answer = asked === undefined && round > 0 ? ({ state: 'stopped' } as const) : run;
  // Faults that a run found are of the texts that ran.
  const isOfThese = asked?.sql === sql && asked.definition === definition;
  const found = answer.state === 'failed' && isOfThese ? toFaults(answer.error.errors) : undefined;
  const hasFaults = check.faults.sql.length + check.faults.definition.length > 0;
  return {
    answer,
    asked,
    values,
    faults: hasFaults || found === undefined ? check.faults : found,
    start: () => setAsked({ round: round + 1, asked: question() }),
    /** Ends it in the engine, too. */
    stop: () => setAsked({ round: round + 1 }),
  };
}
