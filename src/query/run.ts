import { setImmediate } from 'node:timers/promises';
import { isAdHoc } from '../definitions/endpoint.ts';
import type { Pages } from '../definitions/pages.ts';
import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { Engine, QueryOptions, QueryResult } from '../engine/engine.ts';
import { TailraceError } from '../errors.ts';
import type { Micros } from '../lib/instant.ts';
import { type Format, type FramedRows, frameAnswer, JSON_FORMAT, LINE_END, lastLine } from './format.ts';
import { type ParameterValues, rejectParameter } from './parameters.ts';
import { findOwner } from './pins.ts';
import {
  comparePositions,
  findSkipped,
  type Position,
  readPosition,
  serviceValues,
  withSent,
} from './position.ts';
import { isOpaquePage, type Question } from './question.ts';
import { createStatements } from './statement.ts';

/** The finished bytes of a question. */
export interface Answer extends FramedRows {
  readonly format: Format;
  /** The instant that the query saw as `@now`, ms since the epoch; the age of the answer counts from here. */
  readonly instantMs: number;
  readonly engineMs: number;
  /** Core time of its last query. */
  readonly coreMs: number;
  /** See `Prepared`. */
  readonly sampledShare?: number | undefined;
  readonly hint?: string | undefined;
  /** Where the page ends, if it is full: the next one continues from here. */
  readonly last?: Position;
}

/** How a query is run, and for whom. */
export interface RunOptions extends Pick<QueryOptions, 'signal' | 'lane' | 'onJoin' | 'isAuthors'> {
  /** The request that asked first; work of the service itself has none. */
  readonly requestId?: string | undefined;
  /** `@now` of the query, ms since the epoch. Default: the present time. */
  readonly instantMs?: number | undefined;
  /** Only the rows of a page of this time and later; all if left out. */
  readonly from?: Micros | undefined;
}

/** Runs the query of a question. The answer depends on the question, the clock and the data, and on nothing else. */
export type Run = (question: Question, options?: RunOptions) => Promise<Answer>;

/** @param now ms since the epoch */
export function createRunner(engine: Engine, now: () => number): Run {
  const findStatement = createStatements();
  return async (question, { from, requestId, instantMs = now(), ...how } = {}) => {
    const { endpoint, values, format } = question;
    const options = {
      ...how,
      origin: requestId === undefined ? endpoint.name : `${endpoint.name} ${requestId}`,
      sandboxed: isAdHoc(endpoint) ? { project: findOwner(endpoint, values) } : undefined,
    };
    const bound = { ...values, ...serviceValues(endpoint, values, { instantMs, from }) };
    const statement = findStatement(question, bound);
    try {
      const query = { format: statement.format, ...options };
      const result = await listed(await engine.query(statement.sql, bound, query), question);
      const framed = frameAnswer(format, result);
      const { pages } = endpoint;
      const isFull = pages !== undefined && framed.rows >= pages.size && !isOpaquePage(question);
      const end = isFull ? { last: await findPageEnd(pages, values, result.bytes) } : {};
      return { ...framed, ...end, format, instantMs, engineMs: result.elapsedMs, coreMs: result.coreMs };
    } catch (error) {
      const sql = `SELECT replaceRegexpOne('', @pattern, '')`;
      const check = (pattern: string) => engine.query(sql, { pattern }, { format: 'TSVRaw', ...options });
      throw await nameBadPattern(error, question, check);
    }
  };
}

/** A result with lists instead of records, if it is JSON. */
async function listed(result: QueryResult, { endpoint, format }: Question): Promise<QueryResult> {
  const { repeatedColumns = [] } = endpoint;
  if (format.engineFormat !== JSON_FORMAT.engineFormat || repeatedColumns.length === 0) return result;
  return { ...result, bytes: await listRecords(result.bytes, repeatedColumns) };
}

// Rows that are parsed at once: other requests wait meanwhile.
const PARSED_BYTES_MAX = 256 * 1024;

/** Where a full page ends: the position of its last row, and how many rows of it were sent. @param lines rows in JSON */
async function findPageEnd(pages: Pages, values: ParameterValues, lines: Buffer): Promise<Position> {
  const last = lastLine(lines);
  const position = readPosition(pages, last);
  if (!pages.canSkip) return position;
  let equal = 1;
  let parsed = last.length;
  let left = lines.subarray(0, lines.length - last.length - LINE_END.length);
  while (left.length > 0) {
    const row = lastLine(left);
    if (!row.equals(last)) {
      parsed += row.length;
      if (parsed > PARSED_BYTES_MAX) {
        await setImmediate();
        parsed = row.length;
      }
      if (comparePositions(pages, readPosition(pages, row), position) !== 0)
        return withSent(pages, position, equal);
    }
    equal++;
    left = left.subarray(0, left.length - row.length - LINE_END.length);
  }
  return withSent(pages, position, equal + findSkipped(pages, values, position));
}

/** Says which parameter holds the pattern that the engine rejected, by asking the engine about each. */
async function nameBadPattern(
  error: unknown,
  { endpoint, values }: Question,
  check: (pattern: string) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof TailraceError) || error.code !== 'invalid_parameter') return error;
  for (const { name } of endpoint.parameters.filter(({ isPattern }) => isPattern)) {
    try {
      await check(values[name] ?? '');
    } catch (cause) {
      if (!(cause instanceof TailraceError) || cause.code !== 'invalid_parameter') return cause;
      return rejectParameter(name, cause.message, cause);
    }
  }
  return isAdHoc(endpoint)
    ? rejectParameter(SQL_PARAMETER, `has a pattern that ${error.message}`, error)
    : error;
}

// Rows that are rewritten at once, about a millisecond: other requests go on in between.
const CHUNK_BYTES = 256 * 1024;

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Rewrites rows so that each object in some columns is a list of itself, as repeated records of BigQuery are:
 * `{"a":{"b":1}}` becomes `[{"a":[{"b":1}]}]`. Members of lists stay as they are. Only brackets are added: numbers of
 * any size, escapes and the order of keys stay.
 *
 * @param rows JSON objects, one in each line
 * @param places of the columns, from 0
 */
export async function listRecords(rows: Buffer, places: readonly number[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < rows.length; ) {
    const newline = rows.indexOf(NEWLINE, at + CHUNK_BYTES);
    const end = newline === -1 ? rows.length : newline + 1;
    chunks.push(listChunk(rows.subarray(at, end), new Set(places)));
    at = end;
    if (at < rows.length) await setImmediate();
  }
  return Buffer.concat(chunks);
}

/** An open bracket: of a list, of an object that becomes a list of itself, of any other object. */
type Open = 'list' | 'listed' | 'object';

interface State {
  readonly places: ReadonlySet<number>;
  readonly open: Open[];
  /** Column of the value that is being read. */
  column: number;
}

function listChunk(rows: Buffer, places: ReadonlySet<number>): Buffer {
  const out = Buffer.allocUnsafe(rows.length + 2 * countObjects(rows));
  const state: State = { places, open: [], column: 0 };
  let length = 0;
  for (let at = 0; at < rows.length; at++) {
    const byte = rows[at] ?? 0;
    if (byte === QUOTE) {
      const end = endOfText(rows, at);
      length += rows.copy(out, length, at, end);
      at = end - 1;
      continue;
    }
    const bracket = take(state, byte);
    if (bracket === OPEN_LIST) out[length++] = bracket;
    out[length++] = byte;
    if (bracket === CLOSE_LIST) out[length++] = bracket;
  }
  return out.subarray(0, length);
}

/** Reads a byte outside of texts. @returns the bracket that belongs before the brace of an object, or after it */
function take(state: State, byte: number): number | undefined {
  const { open, places } = state;
  if (byte === OPEN_LIST) open.push('list');
  else if (byte === CLOSE_LIST) open.pop();
  else if (byte === CLOSE_OBJECT) return open.pop() === 'listed' ? CLOSE_LIST : undefined;
  else if (byte === OPEN_OBJECT) {
    const isListed = open.length > 0 && open.at(-1) !== 'list' && places.has(state.column);
    open.push(isListed ? 'listed' : 'object');
    return isListed ? OPEN_LIST : undefined;
  } else if (byte === COMMA && open.length === 1) state.column++;
  else if (byte === NEWLINE) state.column = 0;
  return undefined;
}

function countObjects(rows: Buffer): number {
  let count = 0;
  for (let at = rows.indexOf(OPEN_OBJECT); at !== -1; at = rows.indexOf(OPEN_OBJECT, at + 1)) count++;
  return count;
}

/** @param at of the quote that begins the text. @returns the place after the quote that ends it */
function endOfText(rows: Buffer, at: number): number {
  for (let end = at + 1; end < rows.length; end++) {
    if (rows[end] === BACKSLASH) end++;
    else if (rows[end] === QUOTE) return end + 1;
  }
  return rows.length;
}
