import { setImmediate as nextTurn } from 'node:timers/promises';
import { TailraceError } from '../errors.ts';
import { toChartViews, toParameterViews } from '../management/definitions.ts';
import type { RunReport } from '../management/workbench-view.ts';
import { type Format, NDJSON_FORMAT } from '../query/format.ts';
import { parseParameters, type RawParameters } from '../query/parameters.ts';
import { createQuestion } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { engineMessage } from '../verify/engine-fault.ts';
import { type CheckParts, type ExecutionOptions, getEndpoint, toAuthorText } from './check.ts';
import type { DraftTexts } from './draft.ts';

export interface RunParts extends CheckParts {
  /** Runs questions uncached, without the steps for pages. */
  readonly run: Run;
}

/** Rows, and the amounts that the engine has read for them. */
const REPORT_FORMAT: Format = { ...NDJSON_FORMAT, name: 'report', engineFormat: 'JSON' };

/**
 * Runs a draft as a request for its endpoint would be run.
 * @returns `rows`: the engine's rows of JSON, joined by commas
 * @throws as `getEndpoint`; TailraceError `invalid_parameter`, `query_failed` with the engine's words
 */
export async function runDraft(
  { run, ...parts }: RunParts,
  call: DraftTexts & { readonly values: RawParameters },
  execution: ExecutionOptions,
): Promise<{ rows: Buffer; count: number; report: RunReport }> {
  const { endpoint, columns } = await getEndpoint(parts, call, { ...execution, isRun: true });
  const { maxRows } = endpoint;
  // One more row than it may return shows whether there are more.
  const asked = { ...endpoint, maxRows: maxRows + 1 };
  const question = createQuestion(asked, parseParameters(asked, call.values), REPORT_FORMAT);
  const answer = await run(question, { ...execution, isAuthors: true }).catch((error: unknown) => {
    throw toAuthorError(error, call);
  });
  const { body, engineMs, instantMs } = answer;
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

function toAuthorError(error: unknown, texts: DraftTexts): unknown {
  if (!(error instanceof TailraceError) || error.code !== 'query_failed') return error;
  const message = toAuthorText(engineMessage(error), texts);
  return new TailraceError('query_failed', message, {
    errors: [{ parameter: 'sql', message }],
    cause: error.cause,
  });
}

/** The engine's answer in `REPORT_FORMAT`. */
interface Report {
  /** Rows of JSON, joined by commas: the engine's bytes. */
  readonly rows: Buffer;
  readonly count: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** What follows the rows in the document. */
interface Tail {
  readonly rows: number;
  readonly statistics: Readonly<Record<'rows_read' | 'bytes_read', number>>;
}

// The document has the tabs and line breaks of the engine; in texts both are escaped, so the following marks occur
// nowhere else.
const HEAD = '\n\t"data":\n\t[\n';
const END = '\n\t]';
const SEPARATOR = ',\n';
const ROW = /^\t\t[[{]/;

/** Splits a document as bytes. @throws Error for bytes that are not such a document */
function readReport(document: Buffer): Report {
  const head = document.indexOf(HEAD);
  const start = head + HEAD.length;
  const end = document.indexOf(END, start - 1);
  if (head === -1 || end === -1) throw new Error('the engine wrote no report');
  const tail: Tail = JSON.parse(`{"data":[${document.toString('utf8', end)}`);
  const { rows_read: rowsRead, bytes_read: bytesRead } = tail.statistics;
  const rows = document.subarray(start, Math.max(start, end));
  return { rows, count: tail.rows, rowsRead, bytesRead };
}

function dropLastRow({ rows, ...report }: Report): Report {
  const startsRow = (at: number) => ROW.test(rows.toString('latin1', at, at + 3));
  let end = rows.length;
  do end = rows.lastIndexOf(SEPARATOR, end - 1);
  while (end !== -1 && !startsRow(end + SEPARATOR.length));
  return { ...report, rows: rows.subarray(0, Math.max(end, 0)), count: report.count - 1 };
}

// Parsing a megabyte of text takes about a millisecond.
const TURN_BYTES = 1024 * 1024;

/** Parses rows that are a text each, as in `["{…}"]`, and returns the texts. The event loop runs between parts of them. */
async function unwrapRows({ rows, ...report }: Report): Promise<Report> {
  const texts: Buffer[] = [];
  let turn = TURN_BYTES;
  for (let at = 0; at < rows.length; ) {
    const found = rows.indexOf(SEPARATOR, at);
    const end = found === -1 ? rows.length : found;
    const [text] = JSON.parse(rows.toString('utf8', at, end)) as [string]; // one column, a text
    texts.push(Buffer.from(at === 0 ? text : `,${text}`));
    at = end + SEPARATOR.length;
    if (at < turn) continue;
    turn = at + TURN_BYTES;
    await nextTurn();
  }
  return { ...report, rows: Buffer.concat(texts) };
}
