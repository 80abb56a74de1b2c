import { type Command, InvalidArgumentError } from 'commander';
import { findErrorCode, InputError, messageOf, StoppedError, TailraceError } from '../errors.ts';
import type { EndpointView } from '../management/view.ts';
import { FORMATS, type Format, JSON_FORMAT, mediaTypeOf } from '../query/format.ts';
import { describeUndeclared, IGNORED_HEADER, parseIgnored, type RawParameters } from '../query/parameters.ts';

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
  /** Unless a parameter `format` names another. */
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
 * @throws TailraceError with the code and message of the service, `engine_unavailable` if it cannot be reached;
 *   InputError if the response is not one of Tailrace; StoppedError if `signal` aborts
 */
export async function queryRemote(
  remote: Remote,
  { endpoint, raw, format }: RemoteQuestion,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(raw))
    for (const text of [value ?? []].flat()) query.append(name, text);
  const path = `/api/endpoints/query/${encodeURIComponent(endpoint)}?${query}`;
  return await send(remote, path, { format, signal });
}

/** Fetches the description of an endpoint; `undefined` if the key has no access to it. @throws as `queryRemote` */
export async function findRemoteEndpoint(
  remote: Remote,
  idOrName: string,
  signal: AbortSignal,
): Promise<EndpointView | undefined> {
  const { result } = (await callRemote(remote, '/api/endpoints', { signal })) as { result: EndpointView[] };
  return result.find(({ id, name }) => name === idOrName || id === idOrName.toLowerCase());
}

/** Calls a route of JSON; by POST with a body. @returns the JSON @throws as `queryRemote` */
export async function callRemote(
  remote: Remote,
  path: string,
  call: { readonly body?: object; readonly signal: AbortSignal },
): Promise<unknown> {
  const { body } = await send(remote, path, { format: JSON_FORMAT, ...call });
  return JSON.parse(body.toString());
}

interface RemoteRequest {
  readonly format: Format;
  readonly body?: object;
  readonly signal: AbortSignal;
}

async function send(
  { url, key }: Remote,
  path: string,
  { format: wanted, body, signal }: RemoteRequest,
): Promise<RemoteAnswer> {
  const accept = mediaTypeOf(wanted);
  const posted = body && { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'x-api-key': key, accept, ...(body && { 'content-type': 'application/json' }) };
  try {
    // A redirect followed would send the key on to another host.
    const address = `${url.replace(/\/+$/, '')}${path}`;
    const response = await fetch(address, { headers, redirect: 'manual', signal, ...posted });
    const bytes = Buffer.from(await response.arrayBuffer());
    const mediaType = response.headers.get('content-type')?.split(';')[0];
    const format = FORMATS.find((one) => mediaTypeOf(one) === mediaType);
    if (!response.ok || format === undefined)
      throw toError(url, response, mediaType === mediaTypeOf(JSON_FORMAT) ? bytes : undefined);
    return { body: bytes, format, ignored: ignoredIn(response) };
  } catch (error) {
    if (signal.aborted) throw new StoppedError(`stopped by ${signal.reason}`, { cause: error });
    if (error instanceof TailraceError || error instanceof InputError) throw error;
    const why = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    throw new TailraceError('engine_unavailable', `${url} cannot be reached: ${why}`);
  }
}

/**
 * Rejects ignored parameters: a mistyped one would give an unfiltered answer.
 *
 * @throws TailraceError `invalid_parameter` if there is one
 */
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

/** Returns the failure with the ignored parameters: a mistyped one may be the missing one. */
function toError(url: string, response: Response, body: Buffer | undefined): Error {
  const { status, statusText } = response;
  const { error } = (body === undefined ? {} : JSON.parse(body.toString())) as {
    error?: { code?: string; message?: string };
  };
  const code = findErrorCode(error?.code);
  if (error?.message === undefined || code === undefined)
    return new InputError([
      `${url} is not a Tailrace service: it responded with ` +
        `${`${status} ${statusText}`.trimEnd()}${describeRedirect(response)}`,
    ]);
  const unknown = ignoredIn(response).map((name) => `parameter ${JSON.stringify(name)} is not known`);
  return new TailraceError(code, [`${url}: ${error.message}`, ...unknown].join('; '));
}

/** Returns the parameters that a service reports as ignored. */
function ignoredIn({ headers }: Response): readonly string[] {
  return parseIgnored(headers.get(IGNORED_HEADER) ?? '');
}

/** Writes the end of a message about a redirect, which is not followed; empty for any other response. */
export function describeRedirect({ headers }: Response): string {
  const location = headers.get('location');
  return location === null ? '' : ` to ${location}; give the address of the service itself`;
}
