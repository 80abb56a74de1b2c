/**
 * Every way a call can fail: one code, one HTTP status, one exit code of the shell command.
 * docs/errors.md is tested against this table both ways.
 *
 * `exit`: 1 the caller's input is wrong, 3 our failure (docs/operating.md).
 */
export const ERROR_CODES = {
  invalid_parameter: {
    status: 400,
    exit: 1,
    meaning: 'A query parameter is missing, repeated or has a value that is not allowed.',
  },
  invalid_request: { status: 400, exit: 1, meaning: 'The request itself is malformed.' },
  unauthorized: { status: 401, exit: 1, meaning: 'The key is missing, unknown, revoked or expired.' },
  forbidden: {
    status: 403,
    exit: 1,
    meaning: 'The key is good but lacks the scope, the endpoint, the source or the value for this.',
  },
  endpoint_not_found: { status: 404, exit: 1, meaning: 'No endpoint has this UUID or name.' },
  source_not_found: { status: 404, exit: 1, meaning: 'No source has this UUID or name.' },
  not_found: { status: 404, exit: 1, meaning: 'Nothing is served at this path.' },
  method_not_allowed: {
    status: 405,
    exit: 1,
    meaning: 'The path exists, but not for this method; `Allow` lists those that do.',
  },
  not_acceptable: {
    status: 406,
    exit: 1,
    meaning: 'The `Accept` header excludes JSON, the only format of answers.',
  },
  body_too_large: { status: 413, exit: 1, meaning: 'The body is larger than the limit.' },
  uri_too_long: { status: 414, exit: 1, meaning: 'The URL, or URL and headers together, exceed the limit.' },
  unsupported_media_type: {
    status: 415,
    exit: 1,
    meaning: 'The body is of a type that this path does not read.',
  },
  query_failed: {
    status: 422,
    exit: 1,
    meaning:
      'The stored SQL failed on this data or these parameters; the message is the engine’s, or its name alone where it would hold values.',
  },
  rate_limited: { status: 429, exit: 1, meaning: 'Too many requests; `Retry-After` says when to come back.' },
  internal: {
    status: 500,
    exit: 3,
    meaning: 'A fault of Tailrace. The log has the cause under the request id.',
  },
  overloaded: {
    status: 503,
    exit: 3,
    meaning:
      'Too many queries or look-ups of keys wait, one waited too long for its turn, or memory is short; `Retry-After` says when to come back.',
  },
  engine_unavailable: {
    status: 503,
    exit: 3,
    meaning: 'The engine or the control store of keys is closed or away; `Retry-After` is set.',
  },
  query_timeout: { status: 504, exit: 3, meaning: 'The query took longer than the limit and was stopped.' },
  not_cached: {
    status: 504,
    exit: 1,
    meaning:
      'The request asked for a kept answer alone (`Cache-Control: only-if-cached`), and there is none.',
  },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One wrong parameter, as it stands in `error.errors` of an answer. */
export interface ParameterFault {
  readonly parameter: string;
  readonly message: string;
}

export interface TailraceErrorOptions {
  /** Goes to the log, never to the caller. */
  readonly cause?: unknown;
  readonly errors?: readonly ParameterFault[];
  /** Whole seconds for `Retry-After`; set on 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** Extra response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In what a key falls short, for the audit trail. */
  readonly refusal?: Refusal;
}

/** Why a request was refused to its key. */
export const REFUSALS = [
  'missing',
  'unknown',
  'revoked',
  'expired',
  'scope',
  'endpoint',
  'source',
  'pin',
  'wider',
] as const;

export type Refusal = (typeof REFUSALS)[number];

/** A failure that its caller may read: `message` is safe to send. */
export class TailraceError extends Error {
  override readonly name = 'TailraceError';
  readonly code: ErrorCode;
  readonly errors: readonly ParameterFault[];
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refusal | undefined;

  constructor(code: ErrorCode, message: string, options: TailraceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    const retries = ERROR_CODES[code].status === 503 || ERROR_CODES[code].status === 429;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (retries ? 1 : undefined);
    this.headers = options.headers ?? {};
    this.refusal = options.refusal;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}

/** `invalid_request` for one or more wrong members of a body or a query string. */
export function invalidRequest(errors: readonly ParameterFault[]): TailraceError {
  const message = errors.map((error) => `${error.parameter} ${error.message}`).join('; ');
  return new TailraceError('invalid_request', message, { errors });
}

/**
 * Input that keeps a command or the service from starting: settings, definitions, the data directory, a bad line.
 * Each fault is one line that says what was wrong, where, and what would be right. Exit code 1.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], options: { cause?: unknown } = {}) {
    super(faults.join('\n'), options);
    this.faults = faults;
  }
}

/** A signal ended the work before it was done. Nothing went wrong: its message is all there is to say. Exit code 3. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
