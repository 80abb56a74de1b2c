import { createContext, use } from 'react';
import type { Self } from '../../../src/http/view.ts';

/** A failed call: with the service's error, or because the service could not be reached (`unreachable`, status 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly errors: readonly { readonly parameter: string; readonly message: string }[];
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, fields: Omit<ApiError, 'name' | 'message' | 'stack' | 'cause'>) {
    super(message);
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.errors = fields.errors;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** For a response that is not from this service, such as a proxy's page with status 200. */
function notUnderstood(status: number): ApiError {
  return new ApiError(
    'What came back is no answer of this service: something in between put its own in its place.',
    {
      code: 'unknown',
      status,
      requestId: undefined,
      errors: [],
      retryAfterSeconds: undefined,
    },
  );
}

/** @throws ApiError if it is not JSON */
export function parseAnswer<T>(
  { text, status }: RawAnswer,
  parse: (text: string) => unknown = JSON.parse,
): T {
  try {
    return parse(text) as T; // the routes respond by the schemas of src/http/view.ts
  } catch {
    throw notUnderstood(status);
  }
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** A response: its text, its headers, and its round trip. */
export interface RawAnswer {
  readonly text: string;
  readonly status: number;
  readonly headers: Headers;
  readonly ms: number;
}

/** The service's API, called with the signed-in key. */
export interface Client {
  readonly self: Self;
  /** @throws ApiError */
  call<T>(path: string, options?: CallOptions): Promise<T>;
  /** @throws ApiError */
  callRaw(path: string, options?: CallOptions): Promise<RawAnswer>;
}

/**
 * Creates a client that calls the service with a key.
 *
 * @param onRefused called when the key is not accepted (any more)
 * @throws ApiError
 */
export async function callRaw(
  key: string,
  path: string,
  options: CallOptions & { readonly onRefused?: () => void } = {},
): Promise<RawAnswer> {
  const { method = 'GET', body, headers = {}, signal = null, onRefused } = options;
  const startMs = performance.now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      signal,
      // `no-store` keeps the browser's cache out of it. The browser would then also send `no-cache`, which bypasses the service's
      // cache; an explicit `no-transform` prevents that.
      cache: 'no-store',
      headers: {
        'x-api-key': key,
        'cache-control': 'no-transform',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError('The service could not be reached.', {
      code: 'unreachable',
      status: 0,
      requestId: undefined,
      errors: [],
      retryAfterSeconds: undefined,
    });
  }
  if (response.status === 401) onRefused?.();
  if (!response.ok) throw toError(response, text);
  return { text, status: response.status, headers: response.headers, ms: performance.now() - startMs };
}

interface ErrorBody {
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly request_id: string;
    readonly errors: ApiError['errors'];
  };
}

function toError(response: Response, text: string): ApiError {
  const { error } = parseError(text);
  const retryAfter = response.headers.get('retry-after');
  return new ApiError(error?.message ?? `The service answered ${response.status}.`, {
    code: error?.code ?? 'unknown',
    status: response.status,
    requestId: error?.request_id ?? response.headers.get('x-request-id') ?? undefined,
    errors: error?.errors ?? [],
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
  });
}

/** A proxy in between may respond with its own page. */
function parseError(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody;
  } catch {
    return {};
  }
}

export const ClientContext = createContext<Client | undefined>(undefined);

/** The client of the signed-in user, for components below the sign-in. */
export function useClient(): Client {
  const client = use(ClientContext);
  if (client === undefined) throw new Error('nobody is signed in');
  return client;
}
