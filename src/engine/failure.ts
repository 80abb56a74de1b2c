import { type ErrorCode, messageOf, TailraceError } from '../errors.ts';
import { createDeadline } from '../lib/abort.ts';
import type { QueryOptions } from './engine.ts';

/**
 * Wraps all work of an engine: a deadline, errors as TailraceError, and rejection after `close`.
 *
 * @param timeoutMs longest time of a query, including its wait
 * @param stop ends running work, then releases the store; called once
 */
export function createGate(timeoutMs: number, stop: () => Promise<void>) {
  let closing: Promise<void> | undefined;
  const late = () => queryTimeout(timeoutMs);
  const closed = (cause?: unknown) =>
    new TailraceError('engine_unavailable', 'the service is shutting down', { cause });

  function rejectClosed(): void {
    if (closing !== undefined) throw closed();
  }

  async function pass<T>(work: () => Promise<T>, isAuthors?: boolean): Promise<T> {
    rejectClosed();
    return await work().catch((error) => {
      // Closing kills running queries, which would otherwise look like timeouts.
      const failure = toTailraceError(error, isAuthors);
      throw closing === undefined ? failure : closed(failure);
    });
  }

  return {
    /** @throws TailraceError; `engine_unavailable` for every failure once the engine closes */
    pass,
    /** @throws TailraceError `engine_unavailable` once the engine closes */
    rejectClosed,
    /** The error of queries that wait or run when the engine closes. */
    closed,
    /**
     * Does as `pass` for one caller's query.
     *
     * @param isAuthors see `QueryOptions`
     * @throws the reason of `signal` when it was aborted; TailraceError `query_timeout` after `timeoutMs`
     */
    async answer<T>(
      { signal, isAuthors }: Pick<QueryOptions, 'signal' | 'isAuthors'>,
      work: (deadline: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const deadline = createDeadline(timeoutMs, late, signal);
      return await pass(() => work(deadline.signal), isAuthors)
        .catch((error) => {
          signal?.throwIfAborted();
          throw error;
        })
        .finally(deadline.clear);
    },
    /** Idempotent. */
    close(): Promise<void> {
      closing ??= stop();
      return closing;
    },
  };
}

/** The error of a query that was stopped at its deadline. */
export function queryTimeout(timeoutMs: number): TailraceError {
  return new TailraceError('query_timeout', `the query took longer than ${timeoutMs} ms and was stopped`);
}

/** ClickHouse's codes that do not mean "the query failed". The names are ClickHouse's. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  159: 'query_timeout', // TIMEOUT_EXCEEDED
  160: 'query_timeout', // TOO_SLOW
  202: 'overloaded', // TOO_MANY_SIMULTANEOUS_QUERIES
  236: 'engine_unavailable', // ABORTED
  243: 'overloaded', // NOT_ENOUGH_SPACE
  394: 'query_timeout', // QUERY_WAS_CANCELLED
  81: 'engine_unavailable', // UNKNOWN_DATABASE: that of the connection
  192: 'engine_unavailable', // UNKNOWN_USER
  193: 'engine_unavailable', // WRONG_PASSWORD
  209: 'engine_unavailable', // SOCKET_TIMEOUT, between the servers of a cluster
  210: 'engine_unavailable', // NETWORK_ERROR
  216: 'engine_unavailable', // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING
  242: 'engine_unavailable', // TABLE_IS_READ_ONLY: its replica has lost the others
  252: 'overloaded', // TOO_MANY_PARTS
  279: 'engine_unavailable', // ALL_CONNECTION_TRIES_FAILED
  319: 'engine_unavailable', // UNKNOWN_STATUS_OF_INSERT
  439: 'overloaded', // CANNOT_SCHEDULE_TASK
  516: 'engine_unavailable', // AUTHENTICATION_FAILED
  735: 'query_timeout', // QUERY_WAS_CANCELLED_BY_CLIENT
  999: 'engine_unavailable', // KEEPER_EXCEPTION
};

const QUOTA_EXCEEDED = 201;
const MEMORY_LIMIT_EXCEEDED = 241;
// BAD_ARGUMENTS and CANNOT_COMPILE_REGEXP: errors with other codes may quote a value that looks like their messages.
const PATTERN_CODES: ReadonlySet<number | undefined> = new Set([36, 427]);
// ClickHouse's two messages for a pattern that RE2 rejects, then RE2's reason, from its own short list.
const RE2_REASONS = [
  ...[String.raw`missing [)\]]`, String.raw`unexpected \)`, String.raw`trailing \\`],
  ...['no argument for repetition operator', 'pattern too large'],
  '(?:bad|invalid) (?:repetition|perl|escape|character|named)[a-z ]*',
  '[a-z ]+',
];
const BAD_PATTERN = new RegExp(
  `(?:not a valid re2 pattern: |cannot compile re2: .*, error: )(?<reason>${RE2_REASONS.join('|')})`,
  's',
);

// The code depends on the file that ClickHouse was writing.
const DISK_FULL = /No space left on device|NOT_ENOUGH_SPACE|errno: 28\b/;
const DISK_FULL_MESSAGE = 'the disk is full; nothing was stored';

/** Returns the failure of an insert on a full disk. */
export const diskIsFull = () => new TailraceError('overloaded', DISK_FULL_MESSAGE);

/** Whether an engine failed because its disk is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof TailraceError && error.message === DISK_FULL_MESSAGE;
}

/**
 * Maps an engine's error to a TailraceError. The cause, which is logged, is stripped like the message, since the engine
 * quotes the query and with it the values of parameters.
 *
 * @param isAuthors see `QueryOptions`
 */
export function toTailraceError(thrown: unknown, isAuthors = false): TailraceError {
  if (thrown instanceof TailraceError) return thrown;
  const raw = messageOf(thrown);
  const engineCode = findEngineCode(thrown, raw);
  const cause = new Error(`ClickHouse ${engineCode ?? 'without a code'}: ${publicMessage(raw)}`);
  const { code, message } = classify(engineCode, raw, isAuthors);
  return new TailraceError(code, message, { cause });
}

/** The error of an answer over its bound: a truncated answer would be wrong without a sign of it. */
export function tooLarge(bytesMax: number): TailraceError {
  return new TailraceError('query_failed', `the answer is larger than ${bytesMax} bytes; ask for less`);
}

function classify(
  engineCode: number | undefined,
  raw: string,
  isAuthors: boolean,
): { code: ErrorCode; message: string } {
  // "(total)": the engine as a whole lacks memory, so a retry may succeed. "(for query)": it cannot.
  if (engineCode === MEMORY_LIMIT_EXCEEDED && raw.includes('(total)'))
    return { code: 'overloaded', message: 'the engine is out of memory for now' };
  if (engineCode === MEMORY_LIMIT_EXCEEDED)
    return { code: 'query_failed', message: 'the query needs more memory than one query may take' };
  if (DISK_FULL.test(raw)) return { code: 'overloaded', message: DISK_FULL_MESSAGE };
  if (engineCode === QUOTA_EXCEEDED)
    return { code: 'overloaded', message: 'the quota for such queries is used up for now; ask again later' };
  const reason = BAD_PATTERN.exec(raw)?.groups?.['reason'];
  if (PATTERN_CODES.has(engineCode) && reason !== undefined)
    return {
      code: 'invalid_parameter',
      message: `is not a valid RE2 regular expression: ${reason.trim()}`,
    };
  const code = engineCode === undefined ? 'engine_unavailable' : (CODES[engineCode] ?? 'query_failed');
  return { code, message: FIXED[code] ?? (isAuthors ? raw : publicMessage(raw)) };
}

const FIXED: Partial<Record<ErrorCode, string>> = {
  query_timeout: 'the query took longer than allowed and was stopped',
  overloaded: 'the engine has no capacity for now; try again later',
  engine_unavailable: 'the engine is not available',
};

/** Finds ClickHouse's error code, in the error itself or in its text. */
function findEngineCode(thrown: unknown, message: string): number | undefined {
  const own = (thrown as { clickhouseCode?: unknown } | null)?.clickhouseCode;
  if (typeof own === 'number') return own;
  const code = /Code: (\d+)\./.exec(message)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** Codes with messages about the statement or a limit, never about a value. */
const MESSAGE_WITHOUT_VALUE: ReadonlySet<number | undefined> = new Set([
  46, // UNKNOWN_FUNCTION
  47, // UNKNOWN_IDENTIFIER
  50, // UNKNOWN_TYPE, and types that a format does not have
  60, // UNKNOWN_TABLE
  62, // SYNTAX_ERROR
  125, // INCORRECT_RESULT_OF_SCALAR_SUBQUERY
  153, // ILLEGAL_DIVISION
  158, // TOO_MANY_ROWS
  164, // READONLY
  307, // TOO_MANY_BYTES
  395, // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: the text is part of the query
  396, // TOO_MANY_ROWS_OR_BYTES
  407, // DECIMAL_OVERFLOW
  497, // ACCESS_DENIED
]);

const HINTS =
  /(: )?(While|In scope|while executing|Expected one of|Stack trace|If you have forgotten)\b.*$/is;
const CODE_NAMES = /(?: ?\(([A-Z][A-Z0-9_]+)\)(?: \(version [\d.]+(?: \([^()]*\))?\))?\.?)+\s*$/;

/**
 * Returns the part of the engine's message that callers may read. A conversion error contains the value that it failed
 * on, which may be another project's. No pattern can remove it, so only the name of such an error is returned.
 */
export function publicMessage(message: string): string {
  const name = CODE_NAMES.exec(message)?.[1];
  if (!MESSAGE_WITHOUT_VALUE.has(findEngineCode(undefined, message)))
    return `the query failed on this data or these parameters${name === undefined ? '' : `: ${name}`}`;
  const text = message
    .replace(/^(?:(?:[\w ]*: )?Code: \d+\. DB::Exception: |Received from \S+ DB::Exception: )+/, '')
    .replace(CODE_NAMES, '')
    .replace(HINTS, '')
    .replace(/'(?:[^'\\]|\\.)*'/gs, '‘…’')
    .replace(/(?:\/[\w.-]+){2,}\/?/g, '…')
    .trim();
  return text.length > 500 ? `${text.slice(0, 499)}…` : text || 'the query failed';
}
