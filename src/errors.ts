/**
 * Every error code with its HTTP status and the exit code of a command (docs/operating.md): 1 wrong input, 3 failure.
 * `npm run docs` generates docs/errors.md from it.
 */
export const ERROR_CODES = {
  invalid_parameter: { status: 400, exit: 1, meaning: 'A parameter is missing, repeated or not allowed.' },
  invalid_request: { status: 400, exit: 1, meaning: 'The request itself is malformed.' },
  unauthorized: { status: 401, exit: 1, meaning: 'The key is missing, unknown, revoked or expired.' },
  forbidden: { status: 403, exit: 1, meaning: 'The key lacks the scope, endpoint, source or value.' },
  endpoint_not_found: { status: 404, exit: 1, meaning: 'No endpoint has this UUID or name.' },
  source_not_found: { status: 404, exit: 1, meaning: 'No source has this UUID or name.' },
  not_found: { status: 404, exit: 1, meaning: 'Nothing is served at this path.' },
  method_not_allowed: { status: 405, exit: 1, meaning: 'The path has other methods; `Allow` lists them.' },
  not_acceptable: {
    status: 406,
    exit: 1,
    meaning: 'The `Accept` header excludes JSON, the only format of answers.',
  },
  body_too_large: { status: 413, exit: 1, meaning: 'The body is larger than the limit.' },
  uri_too_long: { status: 414, exit: 1, meaning: 'The URL, or URL and headers together, exceed the limit.' },
  unsupported_media_type: { status: 415, exit: 1, meaning: 'The path does not read bodies of this type.' },
  query_failed: {
    status: 422,
    exit: 1,
    meaning:
      'The stored SQL failed on this data or these parameters. The message is the engine’s, or only its name if it would contain values.',
  },
  rate_limited: { status: 429, exit: 1, meaning: 'Too many requests; `Retry-After` says when to retry.' },
  internal: { status: 500, exit: 3, meaning: 'A fault of Tailrace; the log has it under the request id.' },
  overloaded: {
    status: 503,
    exit: 3,
    meaning:
      'Too many queries or look-ups of keys wait, a query waited too long for a reader, or memory is short; `Retry-After` says when to retry.',
  },
  engine_unavailable: {
    status: 503,
    exit: 3,
    meaning: 'The engine or the control store of keys is closed or unavailable; `Retry-After` is set.',
  },
  query_timeout: { status: 504, exit: 3, meaning: 'The query took longer than the limit and was stopped.' },
  not_cached: {
    status: 504,
    exit: 1,
    meaning: 'The request accepts only a cached answer (`Cache-Control: only-if-cached`), and there is none.',
  },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One wrong parameter: an item of `error.errors` in a response. */
export interface ParameterFault {
  readonly parameter: string;
  readonly message: string;
}

export interface TailraceErrorOptions {
  /** Logged, never sent to the caller. */
  readonly cause?: unknown;
  readonly errors?: readonly ParameterFault[];
  /** Whole seconds for `Retry-After`; set on 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** Extra response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the key was refused, for the audit trail. */
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

/** A failure with a `message` that is safe to send to the caller. */
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

/**
 * Wrong input of a command or the service: settings, definitions, the data directory, a file. Each fault is one line that says what
 * was wrong, where, and what would be right. Exit code 1.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], options: { cause?: unknown } = {}) {
    super(faults.join('\n'), options);
    this.faults = faults;
  }
}

/** A command ended before its work was done, by a signal or a timeout; the message says everything. Exit code 3. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
