import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import type { DraftCheck } from '../../../../src/management/view.ts';
import { ApiError, type Client, useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { type FileFaults, type Files, NO_FAULTS, toFaults } from './api.ts';

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
