import type { Endpoint } from '../definitions/endpoint.ts';
import type { Engine, QueryOptions } from '../engine/engine.ts';
import { TailraceError } from '../errors.ts';
import { serviceValues, type TimeRange } from './bucket-range.ts';
import { invalidParameters, type ParameterValues } from './parameters.ts';
import { findOwner } from './pins.ts';
import { isCallersOwn } from './sandbox/base.ts';
import { refuse } from './sandbox/refusal.ts';
import { createStatement, type Statement } from './statement.ts';

/** A finished answer: the bytes that go to every caller who asks the same. */
export interface Answer {
  /** `{"result":[{…},…]}`, UTF-8. */
  readonly body: Buffer;
  readonly rows: number;
  /** Where each row begins in `body`; of endpoints with buckets only, whose rows are taken over by later answers. */
  readonly rowStarts?: Uint32Array;
  /** The instant that the query saw as `@now`, ms since the epoch; an answer's age counts from here. */
  readonly instantMs: number;
  readonly engineMs: number;
}

/** How a query can be stopped, and whose it is. */
export interface RunOptions extends Pick<QueryOptions, 'signal' | 'lane' | 'onJoin'> {
  /** The request that came first to ask this; work of the service's own has none. */
  readonly requestId?: string | undefined;
  /** A part of the buckets, as they stand at an instant; without it all of them at the present one. */
  readonly part?: { readonly range: TimeRange; readonly instantMs: number } | undefined;
}

/** Runs an endpoint's query. Its answer depends on the parameters, the clock and the data, and on nothing else. */
export type Run = (endpoint: Endpoint, values: ParameterValues, options?: RunOptions) => Promise<Answer>;

/** @param now ms since the epoch */
export function createRunner(engine: Engine, now: () => number): Run {
  const statements = new WeakMap<Endpoint, Statement>();
  return async (endpoint, values, { part, requestId, ...how } = {}) => {
    const options = {
      ...how,
      origin: requestId === undefined ? endpoint.name : `${endpoint.name} ${requestId}`,
      sandboxed: isCallersOwn(endpoint) ? { project: findOwner(endpoint, values) } : undefined,
    };
    const statement = statements.get(endpoint) ?? createStatement(endpoint);
    statements.set(endpoint, statement);
    const instantMs = part?.instantMs ?? now();
    const bound = { ...values, ...serviceValues(endpoint, values, { instantMs, range: part?.range }) };
    try {
      const result = await engine.query(statement.sql, bound, {
        format: statement.format,
        identity: `${endpoint.id} ${endpoint.hash} ${JSON.stringify(values)}`,
        ...options,
      });
      const wrapped = endpoint.bucket === undefined ? wrapRows(result.bytes) : wrapBuckets(result.bytes);
      return { ...wrapped, instantMs, engineMs: result.elapsedMs };
    } catch (error) {
      const check = (pattern: string) =>
        engine.query(
          `SELECT replaceRegexpOne('', @pattern, '')`,
          { pattern },
          { format: 'TSVRaw', ...options },
        );
      throw await nameBadPattern(error, { endpoint, values, check });
    }
  };
}

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const HEAD = Buffer.from('{"result":[');
const TAIL = Buffer.from(']}');
const LINE_END = Buffer.from('\n');

/** Lines of JSON as one JSON document, by bytes: each row's newline becomes the comma before the next. */
function wrapRows(lines: Buffer): { body: Buffer; rows: number } {
  const rowsLength = Math.max(lines.length - 1, 0);
  const body = Buffer.allocUnsafe(HEAD.length + rowsLength + TAIL.length);
  HEAD.copy(body);
  lines.copy(body, HEAD.length, 0, rowsLength);
  const end = HEAD.length + rowsLength;
  TAIL.copy(body, end);
  let rows = lines.length === 0 ? 0 : 1;
  for (let at = body.indexOf(NEWLINE, HEAD.length); at !== -1; at = body.indexOf(NEWLINE, at + 1)) {
    body[at] = COMMA;
    rows++;
  }
  return { body, rows };
}

/** The same, and where each row begins. */
function wrapBuckets(lines: Buffer): { body: Buffer; rows: number; rowStarts: Uint32Array } {
  const starts: number[] = [];
  for (let at = 0; at < lines.length; at = lines.indexOf(NEWLINE, at) + 1) starts.push(HEAD.length + at);
  return { ...wrapRows(lines), rowStarts: Uint32Array.from(starts) };
}

/** The text of one row of an answer that has `rowStarts`, without the comma after it. */
export function rowAt({ body, rowStarts = new Uint32Array() }: Answer, row: number): Buffer {
  const end = row + 1 < rowStarts.length ? (rowStarts[row + 1] ?? 0) - 1 : body.length - TAIL.length;
  return body.subarray(rowStarts[row], end);
}

/** One document of rows that are in other answers already. */
export function joinRows(rows: readonly Buffer[]): { body: Buffer; rows: number; rowStarts: Uint32Array } {
  return wrapBuckets(Buffer.concat(rows.flatMap((row) => [row, LINE_END])));
}

/** Says which parameter holds the pattern that the engine refused, by asking it about each. */
async function nameBadPattern(
  error: unknown,
  {
    endpoint,
    values,
    check,
  }: { endpoint: Endpoint; values: ParameterValues; check: (pattern: string) => Promise<unknown> },
): Promise<unknown> {
  if (!(error instanceof TailraceError) || error.code !== 'invalid_parameter') return error;
  for (const parameter of endpoint.parameters) {
    if (!parameter.isPattern) continue;
    const pattern = values[parameter.name] ?? '';
    try {
      await check(pattern);
    } catch (cause) {
      if (!(cause instanceof TailraceError) || cause.code !== 'invalid_parameter') return cause;
      return invalidParameters([{ parameter: parameter.name, message: cause.message }], cause);
    }
  }
  return isCallersOwn(endpoint) ? refuse(`has a pattern that ${error.message}`, error) : error;
}
