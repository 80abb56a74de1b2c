import type { EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Me } from '../../../src/management/view.ts';
import { type Choices, withChoices } from './session.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiError;
  }
}

/** A call that failed: with the service's own words, or because it could not be reached at all (`unreachable`, status 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly errors: readonly {
    readonly parameter: string;
    readonly message: string;
    /** Offset of the fault in the value, UTF-16 units from 0. */
    readonly position?: number;
    /** Line and column, from 1, of a fault in a text. */
    readonly line?: number;
    readonly column?: number;
  }[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    fields: Pick<ApiError, 'code' | 'status'> &
      Partial<Pick<ApiError, 'requestId' | 'errors' | 'retryAfterSeconds'>>,
  ) {
    super(message);
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.errors = fields.errors ?? [];
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** For an answer that is not one of this service, such as the page of a proxy with a good status. */
export function notUnderstood(status: number): ApiError {
  return new ApiError('This response is not from Tailrace: check the proxies in between.', {
    code: 'unknown',
    status,
  });
}

/** The members that an answer of the service has; `result` is a list. */
export type Needs<T> = readonly (keyof T & string)[];

/**
 * A list by itself, as that of sources with TAILRACE_STUDIO=1, is a `result`.
 *
 * @throws ApiError if it is not JSON, or not what is needed: a proxy may send its own answer, another version another one
 */
export function parseAnswer<T>(
  { text, status }: Pick<RawAnswer, 'text' | 'status'>,
  needs: Needs<T>,
  parse: (text: string) => unknown = JSON.parse,
): T {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw notUnderstood(status);
  }
  const answer = Array.isArray(value) ? { result: value } : value;
  if (!isAnswer(answer, needs)) throw notUnderstood(status);
  return answer as T; // the routes answer what src/management/view.ts says
}

function isAnswer(value: unknown, needs: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { result } = value as { readonly result?: unknown };
  const hasList = !needs.includes('result') || (Array.isArray(result) && !result.includes(null));
  return hasList && needs.every((name) => Object.hasOwn(value, name));
}

interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Called if the key is not accepted (any more). */
  readonly onRejected?: () => void;
}

/** An answer as it came: its bytes and their text, its headers, and how long it took from here. */
export type RawAnswer = Awaited<ReturnType<typeof callRaw>>;

/** Asks the service with a key. @throws ApiError */
export async function callRaw(key: string | undefined, path: string, options: CallOptions = {}) {
  const startMs = performance.now();
  const response = await request(key, path, options);
  const blob = await reachable(response.blob(), options.signal);
  const { status, headers } = response;
  return { blob, text: await blob.text(), status, headers, ms: performance.now() - startMs };
}

// A row and its cursor.
const EVENT_CHARS_MAX = 64 * 1024 * 1024;

async function openEvents(
  key: string | undefined,
  path: string,
  options: CallOptions,
): Promise<ReadableStream<EventSourceMessage>> {
  const headers = { accept: 'text/event-stream', ...options.headers };
  const { body, status } = await request(key, path, { ...options, headers });
  if (body === null) throw notUnderstood(status);
  return body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>) // it takes any bytes
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate', maxBufferSize: EVENT_CHARS_MAX }));
}

/** @returns a good response @throws ApiError */
async function request(key: string | undefined, path: string, options: CallOptions): Promise<Response> {
  const { method = 'GET', body, headers = {}, signal = null, onRejected } = options;
  const fetching = fetch(path, {
    method,
    signal,
    // A call here is a call: the browser keeps no answer. By itself it would then ask the service for none that is kept,
    // too; `no-transform` says nothing of that.
    cache: 'no-store',
    headers: {
      // By this header the service knows its own pages: another page may use the session, but cannot send it.
      ...(key === undefined ? { 'x-tailrace-console': '1' } : { 'x-api-key': key }),
      'cache-control': 'no-transform',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await reachable(fetching, signal);
  if (response.status === 401) onRejected?.();
  // The answer that the request named with If-None-Match.
  if (response.status === 304) return response;
  if (!response.ok) throw toError(response, await reachable(response.text(), signal));
  return response;
}

async function reachable<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError('The service could not be reached.', { code: 'unreachable', status: 0 });
  }
}

interface Rejection extends Pick<ApiError, 'code' | 'message' | 'errors'> {
  readonly request_id: string;
}

function toError(response: Response, text: string): ApiError {
  const error = parseError(text);
  const retryAfter = response.headers.get('retry-after');
  return new ApiError(error?.message ?? `The service responded with ${response.status}.`, {
    code: error?.code ?? 'unknown',
    status: response.status,
    requestId: error?.request_id ?? response.headers.get('x-request-id') ?? undefined,
    errors: error?.errors ?? [],
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
  });
}

/** A proxy in between may respond with its own page. */
function parseError(text: string): Rejection | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Rejection };
    const isOurs = typeof error?.message === 'string' && typeof error.code === 'string';
    return isOurs && Array.isArray(error.errors) ? error : undefined;
  } catch {
    return undefined;
  }
}

export type Client = ReturnType<typeof createClient>;

export interface SignedIn {
  readonly self: Me;
  /** `undefined`: a cookie has the session. */
  readonly key: string | undefined;
  readonly choices: Choices;
  readonly onRejected: () => void;
}

/** The service's API with the person or key that is signed in; without one, it has no scope. Each call throws ApiError. */
export function createClient({ self, key, choices, onRejected }: SignedIn) {
  const raw = (path: string, options?: CallOptions) =>
    callRaw(key, withChoices(path, choices), { ...options, onRejected });
  return {
    self,
    callRaw: raw,
    call: async <T>(path: string, needs: Needs<T>, options?: CallOptions) =>
      parseAnswer<T>(await raw(path, options), needs),
    post: async <T>(path: string, needs: Needs<T>, body?: unknown, signal?: AbortSignal) =>
      parseAnswer<T>(await raw(path, { method: 'POST', body, signal }), needs),
    /** Opens a live tail (docs/pages.md). */
    openEvents: (path: string, options?: CallOptions) =>
      openEvents(key, withChoices(path, choices), { ...options, onRejected }),
  };
}
