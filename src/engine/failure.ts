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

/**
 * Turns whatever an engine threw into our error: the one place where ClickHouse's codes become ours. The cause, which goes
 * into the log, is stripped like the message, since the engine quotes the query and with it the parameters' values.
 */
export function toTailraceError(thrown: unknown): TailraceError {
  if (thrown instanceof TailraceError) return thrown;
  const raw = messageOf(thrown);
  const engineCode = findEngineCode(thrown, raw);
  const cause = new Error(`ClickHouse ${engineCode ?? 'without a code'}: ${publicMessage(raw)}`);
  const { code, message } = classify(engineCode, raw);
  return new TailraceError(code, message, { cause });
}

function classify(engineCode: number | undefined, raw: string): { code: ErrorCode; message: string } {
  if (engineCode === MEMORY_LIMIT_EXCEEDED) {
    // "(total)" is the engine as a whole, of which this query may be a small part: worth another try. "(for query)" is not.
    return raw.includes('(total)')
      ? { code: 'overloaded', message: 'the engine is out of memory for now' }
      : { code: 'query_failed', message: 'the query needs more memory than one query may take' };
  }
  const reason = BAD_PATTERN.exec(raw)?.groups?.['reason'];
  if (reason !== undefined) {
    return {
      code: 'invalid_parameter',
      message: `is not a regular expression that RE2 takes: ${reason.trim()}`,
    };
  }
  const code = engineCode === undefined ? 'engine_unavailable' : (CODES[engineCode] ?? 'query_failed');
  return { code, message: FIXED[code] ?? publicMessage(raw) };
}

const FIXED: Partial<Record<ErrorCode, string>> = {
  query_timeout: 'the query took longer than allowed and was stopped',
  overloaded: 'the engine is out of room for now',
  engine_unavailable: 'the engine is not available',
};

/** ClickHouse's error code, from the error itself or from its text. */
function findEngineCode(thrown: unknown, message: string): number | undefined {
  const own = (thrown as { clickhouseCode?: unknown } | null)?.clickhouseCode;
  if (typeof own === 'number') return own;
  const match = /Code: (\d+)\./.exec(message);
  return match === null ? undefined : Number(match[1]);
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
