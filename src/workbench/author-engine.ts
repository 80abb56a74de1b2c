import type { Engine, QueryOptions } from '../engine/engine.ts';
import { parseRows } from '../engine/values.ts';
import { TailraceError } from '../errors.ts';
import { textOf } from '../sql/sql.ts';

/** The lane in which statements run, and the signal that ends them. */
export type ExecutionOptions = Pick<QueryOptions, 'lane' | 'signal'> & { readonly requestId: string };

/**
 * Returns the engine for checks of SQL that a caller wrote: everything runs on a reader, with its rights and limits, in the caller's lane. Errors have
 * the engine's own words, since the caller may read all rows.
 */
export function createAuthorEngine(engine: Engine, { requestId, ...execution }: ExecutionOptions) {
  let failure: unknown;
  const options = { ...execution, origin: `workbench ${requestId}`, isAuthors: true } as const;
  const query: Engine['query'] = async (sql, values, { format }) => {
    try {
      return await engine.query(sql, values, { ...options, format });
    } catch (error) {
      if (!isOfText(error)) failure ??= error;
      throw error;
    }
  };
  const checking: Engine = {
    ...engine,
    query,
    inspect: async (sql) => parseRows((await query(textOf(sql), {}, { format: 'JSONEachRow' })).bytes),
  };
  return {
    engine: checking,
    /** Throws errors that are not faults of the text, such as a timeout: checks report every other error as a fault. */
    throwFailure(): void {
      if (failure !== undefined) throw failure;
    },
  };
}

function isOfText(error: unknown): boolean {
  return error instanceof TailraceError && ['query_failed', 'invalid_parameter'].includes(error.code);
}
