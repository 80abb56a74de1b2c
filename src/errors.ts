/**
 * Every way a call can fail: one code, one HTTP status, one exit code of the shell command.
 * docs/errors.md is tested against this table both ways.
 *
 * `exit`: 1 the caller's input is wrong, 3 our failure (docs/cli.md).
 */
export const ERROR_CODES = {
  invalid_parameter: {
    status: 400,
    exit: 1,
    meaning: 'A parameter is missing, repeated or has a wrong value.',
  },
  invalid_request: { status: 400, exit: 1, meaning: 'The request itself is malformed.' },
  invalid_definition: {
    status: 400,
    exit: 1,
    meaning: 'A definition or its SQL is not valid; `errors` names the places.',
  },
  unauthorized: {
    status: 401,
    exit: 1,
    meaning: 'The key, token or session is missing, unknown, revoked or expired.',
  },
  forbidden: {
    status: 403,
    exit: 1,
    meaning: 'The key lacks the scope, endpoint, source or pinned value.',
  },
  endpoint_not_found: { status: 404, exit: 1, meaning: 'No endpoint has this UUID or name.' },
  source_not_found: { status: 404, exit: 1, meaning: 'No source has this UUID or name.' },
  not_found: { status: 404, exit: 1, meaning: 'No such path.' },
  method_not_allowed: {
    status: 405,
    exit: 1,
    meaning: 'The path does not have this method; `Allow` lists its methods.',
  },
  not_acceptable: {
    status: 406,
    exit: 1,
    meaning: '`Accept` names no format of the answer, or a live tail that the endpoint lacks.',
  },
  conflict: { status: 409, exit: 1, meaning: 'It has been changed since the caller read it.' },
  body_too_large: { status: 413, exit: 1, meaning: 'The request body is larger than the limit.' },
  uri_too_long: { status: 414, exit: 1, meaning: 'The URL, or URL and headers, exceed the limit.' },
  unsupported_media_type: {
    status: 415,
    exit: 1,
    meaning: 'This path does not read the body’s type.',
  },
  query_failed: {
    status: 422,
    exit: 1,
    meaning: 'The SQL failed on this data or these parameters.',
  },
  rate_limited: { status: 429, exit: 1, meaning: 'Too many requests; retry after `Retry-After`.' },
  internal: {
    status: 500,
    exit: 3,
    meaning: 'A fault of Tailrace; the log has the cause.',
  },
  overloaded: {
    status: 503,
    exit: 3,
    meaning: 'A backlog is full, the wait was too long, or memory or disk is short.',
  },
  engine_unavailable: {
    status: 503,
    exit: 3,
    meaning: 'The engine or the store of keys is unavailable.',
  },
  query_timeout: { status: 504, exit: 3, meaning: 'The query exceeded its time limit and was stopped.' },
  not_cached: {
    status: 504,
    exit: 1,
    meaning: '`Cache-Control: only-if-cached` without a cached answer.',
  },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Finds a code that a response of a service names; `undefined` if there is no such code. */
export function findErrorCode(code: string | undefined): ErrorCode | undefined {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : undefined; // its keys are the codes
}

/** One wrong parameter, as `error.errors` of a response lists it. */
export interface ParameterFault {
  readonly parameter: string;
  readonly message: string;
  /** Where the fault is in a value that is parsed: UTF-16 units from its start. */
  readonly position?: number;
  /** Where the fault is in a text of several lines; both count from 1, columns in UTF-16 units. */
  readonly line?: number;
  readonly column?: number;
}

export interface TailraceErrorOptions {
  /** Goes to the log, never to the caller. */
  readonly cause?: unknown;
  readonly errors?: readonly ParameterFault[];
  /** Whole seconds for `Retry-After`; set on 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** Extra response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the key was rejected, for the audit trail. */
  readonly rejectReason?: RejectReason;
}

/** Why a request was rejected. */
export const REJECT_REASONS = [
  'missing',
  'unknown',
  'revoked',
  'expired',
  'scope',
  'endpoint',
  'source',
  'pin',
  'wider',
  'sign_in',
  'session',
] as const;

export type RejectReason = (typeof REJECT_REASONS)[number];

/** A failure that its caller may read: `message` is safe to send. */
export class TailraceError extends Error {
  override readonly name = 'TailraceError';
  readonly code: ErrorCode;
  readonly errors: readonly ParameterFault[];
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly rejectReason: RejectReason | undefined;

  constructor(code: ErrorCode, message: string, options: TailraceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    const retries = ERROR_CODES[code].status === 503 || ERROR_CODES[code].status === 429;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (retries ? 1 : undefined);
    this.headers = options.headers ?? {};
    this.rejectReason = options.rejectReason;
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
  override readonly name: string = 'InputError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], options: { cause?: unknown } = {}) {
    super(faults.join('\n'), options);
    this.faults = faults;
  }
}

/**
 * What keeps a command or the service from starting for now: a full disk, a port in use, a database that is not up yet.
 * Nothing has to be changed in settings or definitions, so a supervisor should start it again. Exit code 3.
 */
export class TransientError extends InputError {
  override readonly name = 'TransientError';
}

/** A signal ended the work before it was done. Nothing went wrong: its message is all there is to say. Exit code 3. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** Returns the message of anything thrown; of several, as of each address of a host that was tried, that of the first. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** Something wrong in a definition file. */
export interface Fault {
  /** Path as given to the service, such as `endpoints/logs.all/endpoint.yaml`. */
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  /** The place in the line, in UTF-16 units; counts from 1. Left out if the fault has none. */
  readonly column?: number;
  /** What is wrong, and what would be right. */
  readonly message: string;
  /** Whether a draft with it can be run. */
  readonly mayRun?: boolean;
}

/** Returns the line and column of an offset in a text, each counted from 1. */
export function placeAt(text: string, offset: number): Required<Pick<Fault, 'line' | 'column'>> {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Writes `file:line: message`, the form that editors and terminals make clickable. */
export function formatFault(fault: Fault): string {
  return `${fault.file}:${fault.line}: ${fault.message}`;
}

/**
 * @param others lines of faults that are not in definitions
 * @throws InputError with a line for each fault, in the order of files and lines, then `others`
 */
export function rejectFaults(faults: readonly Fault[], others: readonly string[] = []): void {
  if (faults.length === 0 && others.length === 0) return;
  const ordered = faults.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  throw new InputError([...ordered.map(formatFault), ...others]);
}
