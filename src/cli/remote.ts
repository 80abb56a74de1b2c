import { type Command, InvalidArgumentError } from 'commander';
import {
  ERROR_CODES,
  type ErrorCode,
  InputError,
  messageOf,
  StoppedError,
  TailraceError,
} from '../errors.ts';
import { describeRedirect } from '../ingest/remote-sink.ts';
import type { EndpointView } from '../management/view.ts';
import { FORMATS, type Format, JSON_FORMAT, mediaTypeOf } from '../query/format.ts';
import type { RawParameters } from '../query/parameters.ts';
import { describeUndeclared, IGNORED_HEADER, parseIgnored } from '../query/undeclared.ts';

/** A running service that a command calls over HTTP instead of opening the store. */
export interface Remote {
  /** Such as http://127.0.0.1:4000; a path, as behind a proxy, is kept. */
  readonly url: string;
  readonly key: string;
}

export type RemoteOptions = Partial<Remote>;

export interface RemoteQuestion {
  readonly endpoint: string;
  readonly raw: RawParameters;
  readonly format: Format;
}

export interface RemoteAnswer {
  readonly body: Buffer;
  readonly format: Format;
  /** Names of the parameters that the service has ignored. */
  readonly ignored: readonly string[];
}

/**
 * Adds `--url` and `--key` to a command.
 *
 * @param about the help of `--url`
 * @param scope that the key needs
 */
export function addRemoteOptions(command: Command, about: string, scope: string): Command {
  return command
    .option('--url <url>', about, parseUrl)
    .option('--key <key>', `key with scope ${scope} (default: TAILRACE_KEY)`);
}

/** Returns the key of the options, else of the environment, where an empty value counts as not set. */
export function findKey({ key = process.env['TAILRACE_KEY'] }: RemoteOptions): string | undefined {
  return key === '' ? undefined : key;
}

/** Returns the service of the options; `undefined` without `--url`. @throws InputError if there is no key for it */
export function findRemote({ url, ...options }: RemoteOptions): Remote | undefined {
  if (url === undefined) return undefined;
  const key = findKey(options);
  if (key !== undefined) return { url, key };
  throw new InputError(['--url needs a key: give --key or set TAILRACE_KEY']);
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:4000.');
}

/**
 * Queries an endpoint of a running service, through its cache.
 *
 * @param format of the answer, unless a parameter `format` names another
 * @throws TailraceError with the code and message of the service, `engine_unavailable` if it cannot be reached; InputError if the
 * response is not one of Tailrace; StoppedError if `signal` aborts
 */
export async function queryRemote(
  remote: Remote,
  { endpoint, raw, format }: RemoteQuestion,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  return await get(remote, endpointPath({ endpoint, raw }), format, signal);
}

/** Returns the path of an endpoint with parameters. */
function endpointPath({ endpoint, raw }: Pick<RemoteQuestion, 'endpoint' | 'raw'>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(raw))
    for (const text of [value ?? []].flat()) query.append(name, text);
  return `/api/endpoints/query/${encodeURIComponent(endpoint)}?${query}`;
}

/** Fetches the description of an endpoint; `undefined` if the key has no access to it. @throws as `queryRemote` */
export async function findRemoteEndpoint(
  remote: Remote,
  idOrName: string,
  signal: AbortSignal,
): Promise<EndpointView | undefined> {
  const { body } = await get(remote, '/api/endpoints', JSON_FORMAT, signal);
  const { result } = JSON.parse(body.toString()) as { result: EndpointView[] };
  return result.find(({ id, name }) => name === idOrName || id === idOrName.toLowerCase());
}

async function get(
  remote: Remote,
  path: string,
  accepted: Format,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  const response = await openRemote(remote, path, { headers: { accept: mediaTypeOf(accepted) }, signal });
  const format = FORMATS.find((one) => mediaTypeOf(one) === mediaTypeIn(response.headers));
  if (format === undefined) throw toError(remote.url, response, undefined);
  try {
    const ignored = ignoredIn(response.headers);
    return { body: Buffer.from(await response.arrayBuffer()), format, ignored };
  } catch (error) {
    throw toFailure(error, remote, signal);
  }
}

/** Calls a route of JSON; by POST with a body. @returns the JSON @throws as `queryRemote` */
export async function callRemote(
  remote: Remote,
  path: string,
  { body, signal }: { readonly body?: object; readonly signal: AbortSignal },
): Promise<unknown> {
  const accept = mediaTypeOf(JSON_FORMAT);
  const posted = body && { method: 'POST', body: JSON.stringify(body) };
  const headers = { accept, ...(body && { 'content-type': accept }) };
  const response = await openRemote(remote, path, { headers, signal, ...posted });
  if (mediaTypeIn(response.headers) !== accept) throw toError(remote.url, response, undefined);
  try {
    return await response.json();
  } catch (error) {
    throw toFailure(error, remote, signal);
  }
}

interface RemoteRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Default: GET. */
  readonly method?: string;
  readonly body?: string;
}

/** @returns a good response @throws as `queryRemote` */
async function openRemote(
  remote: Remote,
  path: string,
  { headers, ...request }: RemoteRequest,
): Promise<Response> {
  const { url, key } = remote;
  const address = `${url.replace(/\/+$/, '')}${path}`;
  try {
    // A redirect followed would send the key on to another host.
    const response = await fetch(address, {
      ...{ headers: { 'x-api-key': key, ...headers }, redirect: 'manual' },
      ...request,
    });
    if (response.ok) return response;
    const body = Buffer.from(await response.arrayBuffer());
    throw toError(
      url,
      response,
      mediaTypeIn(response.headers) === mediaTypeOf(JSON_FORMAT) ? body : undefined,
    );
  } catch (error) {
    throw toFailure(error, remote, request.signal);
  }
}

/** Returns the parameters that a service reports as ignored. */
function ignoredIn(headers: Headers): readonly string[] {
  return parseIgnored(headers.get(IGNORED_HEADER) ?? '');
}

/** Rejects ignored parameters: a mistyped one would give an unfiltered answer. @throws TailraceError `invalid_parameter` if there is one */
export async function refuseIgnored(
  remote: Remote,
  idOrName: string,
  { ignored, signal }: { readonly ignored: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  if (ignored.length === 0) return;
  const endpoint = await findRemoteEndpoint(remote, idOrName, signal);
  refuseUnknown(endpoint?.name ?? idOrName, ignored, endpoint?.parameters.map(({ name }) => name) ?? []);
}

/** @throws TailraceError `invalid_parameter` that names each, and the parameters that may be meant */
export function refuseUnknown(endpoint: string, names: readonly string[], known: readonly string[]): void {
  if (names.length === 0) return;
  const errors = describeUndeclared(names, known);
  const lines = errors.map(
    ({ parameter, message }) => `parameter ${JSON.stringify(parameter)} of ${endpoint} ${message}`,
  );
  throw new TailraceError('invalid_parameter', lines.join('; '), { errors });
}

/** Returns the media type of a response, without its parameters. */
function mediaTypeIn(headers: Headers): string | undefined {
  return headers.get('content-type')?.split(';')[0];
}

function toFailure(error: unknown, { url }: Remote, signal: AbortSignal): Error {
  if (signal.aborted) return new StoppedError(`stopped by ${signal.reason}`, { cause: error });
  if (error instanceof TailraceError || error instanceof InputError) return error;
  const why = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  return new TailraceError('engine_unavailable', `${url} cannot be reached: ${why}`);
}

/** Returns the failure with the ignored parameters: a mistyped one may be the missing one. */
function toError(url: string, response: Response, body: Buffer | undefined): Error {
  const { status, statusText, headers } = response;
  const { error } = (body === undefined ? {} : JSON.parse(body.toString())) as {
    error?: { code?: string; message?: string };
  };
  if (error?.message !== undefined && isErrorCode(error.code))
    return new TailraceError(
      error.code,
      [`${url}: ${error.message}`, ...describeIgnored(headers)].join('; '),
    );
  const to = describeRedirect(response);
  return new InputError([
    `${url} is not a Tailrace service: it responded with ${`${status} ${statusText}`.trimEnd()}${to}`,
  ]);
}

function describeIgnored(headers: Headers): string[] {
  return ignoredIn(headers).map((name) => `parameter ${JSON.stringify(name)} is not known`);
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code);
}
