import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import { toChartViews, toParameterViews } from '../management/definitions.ts';
import type { RunReport } from '../management/view.ts';
import { type Format, NDJSON_FORMAT } from '../query/format.ts';
import { parseParameters, type RawParameters } from '../query/parameters.ts';
import { createQuestion } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { engineMessage } from '../verify/engine-message.ts';
import type { ExecutionOptions } from './author-engine.ts';
import { type CheckParts, getEndpoint, toAuthorText } from './check.ts';
import type { DraftTexts } from './draft.ts';
import { dropLastRow, readReport, unwrapRows } from './report.ts';

export interface RunParts extends CheckParts {
  /** Runs questions uncached, without the steps for pages. */
  readonly run: Run;
}

/** A draft with values of its parameters by name. */
export interface DraftCall extends DraftTexts {
  readonly values: RawParameters;
}

/** Rows, and the amounts that the engine has read for them. */
const REPORT_FORMAT: Format = { ...NDJSON_FORMAT, name: 'report', engineFormat: 'JSON' };

/**
 * Runs a draft as a request for its endpoint would be run.
 *
 * @returns `rows`: the engine's rows of JSON, joined by commas
 * @throws as `getEndpoint`; TailraceError `invalid_parameter`, `query_failed` with the engine's words
 */
export async function runDraft(
  parts: RunParts,
  call: DraftCall,
  execution: ExecutionOptions,
): Promise<{ rows: Buffer; count: number; report: RunReport }> {
  const { endpoint, columns } = await getEndpoint(parts, call, execution);
  const { maxRows } = endpoint;
  // One more row than it may return shows whether there are more.
  const asked = { ...endpoint, maxRows: maxRows + 1 };
  const { body, engineMs, instantMs } = await ask(parts, { endpoint: asked, call }, execution);
  const joinsText = endpoint.columns.some(({ type }) => type === 'json');
  const all = readReport(body);
  const truncated = all.count > maxRows;
  const kept = truncated ? dropLastRow(all) : all;
  const { rows, count } = joinsText ? await unwrapRows(kept) : kept;
  const declared = endpoint.columns.map(({ name, type }) => ({ name, type }));
  const report = {
    columns: declared.length > 0 ? declared : columns.map((column) => ({ ...column })),
    charts: toChartViews(endpoint),
    parameters: toParameterViews(endpoint, {}),
    rows_read: all.rowsRead,
    bytes_read: all.bytesRead,
    engine_ms: Math.round(engineMs * 10) / 10,
    truncated,
    now: new Date(instantMs).toISOString(),
  };
  return { rows, count, report };
}

async function ask(
  { run }: RunParts,
  { endpoint, call }: { readonly endpoint: Endpoint; readonly call: DraftCall },
  execution: ExecutionOptions,
) {
  const values = parseParameters(endpoint, call.values);
  try {
    return await run(createQuestion(endpoint, values, REPORT_FORMAT), { ...execution, isAuthors: true });
  } catch (error) {
    if (!(error instanceof TailraceError) || error.code !== 'query_failed') throw error;
    const message = toAuthorText(engineMessage(error), call);
    throw new TailraceError('query_failed', message, {
      errors: [{ parameter: 'sql', message }],
      cause: error.cause,
    });
  }
}
