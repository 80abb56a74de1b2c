import type { Endpoint } from '../definitions/endpoint.ts';
import type { Engine, QueryOptions } from '../engine/engine.ts';
import { TailraceError } from '../errors.ts';
import { formatInstant, MICROS_PER_MS } from '../lib/instant.ts';
import { invalidParameters, type ParameterValues } from './parameters.ts';
import { isCallersOwn } from './sandbox/base.ts';
import { refuse } from './sandbox/refusal.ts';
import { createStatement, type Statement } from './statement.ts';

/** A finished answer: the bytes that go to every caller who asks the same. */
export interface Answer {
  /** `{"result":[{…},…]}`, UTF-8. */
  readonly body: Buffer;
  readonly rows: number;
  /** The instant that the query saw as `@now`, ms since the epoch; an answer's age counts from here. */
  readonly instantMs: number;
  readonly engineMs: number;
}

/** How a query can be stopped, and whose it is. */
export type RunOptions = Pick<QueryOptions, 'signal' | 'lane' | 'onJoin'>;

/** Runs an endpoint's query. Its answer depends on the parameters, the clock and the data, and on nothing else. */
export type Run = (endpoint: Endpoint, values: ParameterValues, options?: RunOptions) => Promise<Answer>;

/** @param now ms since the epoch */
export function createRunner(engine: Engine, now: () => number): Run {
  const statements = new WeakMap<Endpoint, Statement>();
  return async (endpoint, values, options = {}) => {
    const statement = statements.get(endpoint) ?? createStatement(endpoint);
    statements.set(endpoint, statement);
    const instantMs = now();
    const bound = { ...values, now: formatInstant(instantMs * MICROS_PER_MS) };
    try {
      const result = await engine.query(statement.sql, bound, { format: statement.format, ...options });
      return { ...wrapRows(result.bytes), instantMs, engineMs: result.elapsedMs };
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
    if (parameter.type !== 'regex') continue;
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
