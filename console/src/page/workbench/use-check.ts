import { useEffect, useState } from 'react';
import type { DraftCheck } from '../../../../src/management/view.ts';
import { ApiError, type Client, useClient } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';
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

type State = Omit<Check, 'isCurrent'> & { readonly of: Files | undefined };

const NOTHING: State = { of: undefined, faults: NO_FAULTS, parameters: [], columns: [], error: undefined };

/** Checks the two texts now. @throws ApiError, even for faults that leave nothing to check */
export function checkFiles(client: Client, files: Files, signal?: AbortSignal): Promise<DraftCheck> {
  return client.call<DraftCheck>('/api/workbench/check', ['parameters', 'columns', 'errors'], {
    method: 'POST',
    body: files,
    ...(signal !== undefined && { signal }),
  });
}

/** Checks the two texts when they have not changed for half a second. */
export function useCheck({ definition, sql }: Files): Check {
  const client = useClient();
  const [state, setState] = useState(NOTHING);
  const raise = useRaise();

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const of = { definition, sql };
    const check = async () => {
      try {
        const found = await checkFiles(client, of, signal);
        const { columns, errors } = found;
        // A definition with faults has no parameters: their form stays while it is being written.
        const isBroken = errors.length > 0 && found.parameters.length === 0;
        setState(({ parameters }) => ({
          of,
          faults: toFaults(errors),
          parameters: isBroken ? parameters : found.parameters,
          columns,
          error: undefined,
        }));
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiError)) return raise(error);
        const faults = toFaults(error.errors);
        const isFault = faults.definition.length + faults.sql.length > 0;
        setState((before) => ({ ...before, of, faults, error: isFault ? undefined : error }));
      }
    };
    const timer = setTimeout(() => void check(), DELAY_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, definition, sql, raise]);

  return { ...state, isCurrent: state.of?.definition === definition && state.of.sql === sql };
}
