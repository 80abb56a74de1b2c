import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Engine, QueryOptions } from '../engine/engine.ts';
import { parseRows } from '../engine/read-settings.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { verifySearches } from '../search/verify.ts';
import { textOf } from '../sql/sql.ts';
import { findForeignTable, NO_SETTINGS } from '../verify/disallowed-syntax.ts';
import { type Verified, verifyDrafts, verifyQuery } from '../verify/verify.ts';
import { type Draft, type DraftTexts, readDraft, rejectDraft } from './draft.ts';

export interface CheckParts {
  readonly engine: Engine;
  readonly registry: Registry;
}

interface CheckedDraft extends Pick<Verified, 'columns'> {
  readonly draft: Draft;
  readonly faults: readonly Fault[];
}

/**
 * Checks the texts of a draft as files are checked, and that the SQL reads only tables of sources.
 * @throws TailraceError for a failure that is not a fault of the texts, such as `query_timeout`; the signal's reason
 */
export async function checkDraft(
  parts: CheckParts,
  texts: DraftTexts,
  execution: ExecutionOptions,
): Promise<CheckedDraft> {
  const { registry } = parts;
  const draft = readDraft(texts, registry.sources);
  const { endpoint, sql } = draft;
  const { engine, throwFailure } = createAuthorEngine(parts.engine, execution);
  // Without an endpoint the types are unknown, so only the syntax can be checked.
  const { faults, columns } =
    endpoint === undefined
      ? { faults: await verifyDrafts(engine, sql.text.trim() === '' ? [] : [sql]), columns: [] }
      : await verifyQuery(engine, endpoint, findForeign(registry));
  throwFailure();
  const own = [...draft.faults, ...(endpoint === undefined ? [] : verifySearches([endpoint]))];
  const ofEngine = faults.map((one) => ({ ...one, message: toAuthorText(one.message, texts) }));
  return { draft, columns, faults: [...own, ...ofEngine] };
}

/**
 * Returns the endpoint of a draft without faults, or, to run it, without those that keep it from running.
 * @throws as `checkDraft`; TailraceError `invalid_definition`
 */
export async function getEndpoint(
  parts: CheckParts,
  texts: DraftTexts,
  { isRun = false, ...execution }: ExecutionOptions & { readonly isRun?: boolean },
): Promise<{ endpoint: Endpoint; columns: Verified['columns'] }> {
  const { draft, faults, columns } = await checkDraft(parts, texts, execution);
  rejectDraft(isRun ? faults.filter(({ mayRun }) => mayRun !== true) : faults);
  if (draft.endpoint === undefined) throw new Error('a draft without faults is an endpoint');
  return { endpoint: draft.endpoint, columns };
}

/** A caller's SQL reads only tables of sources, while stored queries read all that the operator allows. */
function findForeign({ sources }: Registry) {
  const tables = new Set(sources.map(({ table }) => table));
  return (tree: Parameters<typeof findForeignTable>[0]) => {
    const foreign = findForeignTable(tree, tables);
    const known = `the workbench reads the tables of sources, ${[...tables].join(', ')}`;
    return foreign && `must not read ${foreign}: ${known}`;
  };
}

const PATH = /(?<![\w.])(?:\/[\w.-]+){2,}\/?/g;
const SETTINGS = /^Cannot modify '.*?' setting in readonly mode.*/s;

/**
 * Returns the engine's message for the author of a text, without the name of the error and the paths of this machine;
 * those in the author's own text stay.
 * @param message of `engineMessage`
 */
export function toAuthorText(message: string, { sql, definition }: DraftTexts): string {
  const text = message
    .replace(SETTINGS, NO_SETTINGS)
    .replace(/[\s.]*\([A-Z_]+\)$/, '')
    .trim();
  return text.replace(PATH, (path) => (sql.includes(path) || definition.includes(path) ? path : '…'));
}

/** The lane in which statements run, and the signal that ends them. */
export type ExecutionOptions = Pick<QueryOptions, 'lane' | 'signal'> & { readonly requestId: string };

/**
 * Returns the engine for checks of SQL that a caller wrote: everything runs on a reader, with its rights and limits, in
 * the caller's lane. Errors have the engine's own words, since the caller may read all rows.
 */
function createAuthorEngine(engine: Engine, { requestId, ...execution }: ExecutionOptions) {
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

const isOfText = (error: unknown) =>
  error instanceof TailraceError && ['query_failed', 'invalid_parameter'].includes(error.code);
