import { type ErrorCode, messageOf, TailraceError } from '../errors.ts';

/** ClickHouse's codes that mean something else than "the query failed". The names are ClickHouse's own. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  159: 'query_timeout', // TIMEOUT_EXCEEDED
  160: 'query_timeout', // TOO_SLOW
  202: 'overloaded', // TOO_MANY_SIMULTANEOUS_QUERIES
  236: 'engine_unavailable', // ABORTED
  243: 'overloaded', // NOT_ENOUGH_SPACE
  394: 'query_timeout', // QUERY_WAS_CANCELLED
  210: 'engine_unavailable', // NETWORK_ERROR
};

const MEMORY_LIMIT_EXCEEDED = 241;
// The two ways in which ClickHouse says that RE2 refused a pattern, then RE2's reason, from RE2's own short list.
const BAD_PATTERN =
  /(?:not a valid re2 pattern: |cannot compile re2: .*, error: )(?<reason>missing [)\]]|unexpected \)|trailing \\|no argument for repetition operator|(?:bad|invalid) (?:repetition|perl|escape|character|named)[a-z ]*|pattern too large|[a-z ]+)/s;

/** Turns whatever an engine threw into our error: the one place where ClickHouse's codes become ours. */
export function toTailraceError(error: unknown): TailraceError {
  if (error instanceof TailraceError) return error;
  const message = messageOf(error);
  const code = engineCode(error, message);
  if (code === undefined) {
    return new TailraceError('engine_unavailable', 'the engine is not available', { cause: error });
  }
  if (code === MEMORY_LIMIT_EXCEEDED) return memoryError(message, error);
  const reason = BAD_PATTERN.exec(message)?.groups?.['reason'];
  if (reason !== undefined) {
    const text = `is not a regular expression that RE2 takes: ${reason.trim()}`;
    return new TailraceError('invalid_parameter', text, { cause: error });
  }
  const ours = CODES[code] ?? 'query_failed';
  const text = ours === 'query_failed' ? publicMessage(message) : FIXED[ours];
  return new TailraceError(ours, text ?? publicMessage(message), { cause: error });
}

const FIXED: Partial<Record<ErrorCode, string>> = {
  query_timeout: 'the query took longer than allowed and was stopped',
  overloaded: 'the engine is out of room for now',
  engine_unavailable: 'the engine is not available',
};

/** ClickHouse's error code, from the error itself or from its text. */
export function engineCode(error: unknown, message = messageOf(error)): number | undefined {
  const own = (error as { clickhouseCode?: unknown } | null)?.clickhouseCode;
  if (typeof own === 'number') return own;
  const match = /Code: (\d+)\./.exec(message);
  return match === null ? undefined : Number(match[1]);
}

function memoryError(message: string, cause: unknown): TailraceError {
  // "(total)" is the engine as a whole, of which this query may be a small part: worth another try. "(for query)" is not.
  if (message.includes('(total)')) {
    return new TailraceError('overloaded', 'the engine is out of memory for now', { cause });
  }
  return new TailraceError('query_failed', 'the query needs more memory than one query may take', { cause });
}

/**
 * The engine's message without what a caller must not see: values (a conversion error quotes the row that it failed on,
 * which may be another project's), paths, stack, the text of the query.
 */
export function publicMessage(message: string): string {
  const text = message
    .replace(/^(?:(?:[\w ]*: )?Code: \d+\. DB::Exception: )+/, '')
    .replace(/ ?\([A-Z][A-Z0-9_]+\)(?: \(version [\d.]+\))?\.?\s*$/, '')
    .replace(/(: )?(While|In scope|while executing|Stack trace|If you have forgotten)\b.*$/is, '')
    .replace(/'(?:[^'\\]|\\.)*'/gs, '‘…’')
    .replace(/(?:\/[\w.-]+){2,}\/?/g, '…')
    .trim();
  return text.length > 500 ? `${text.slice(0, 499)}…` : text || 'the query failed';
}
