import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { findErrorCode, InputError, messageOf, StoppedError, TailraceError } from '../errors.ts';
import { JSON_FORMAT, mediaTypeOf } from '../query/format.ts';
import { IGNORED_HEADER, parseIgnored } from '../query/parameters.ts';

/** A running service that a command calls over HTTP instead of opening the store. */
export interface Remote {
  /** Such as http://127.0.0.1:4000; a path, as behind a proxy, is kept. */
  readonly url: string;
  readonly key: string;
  /** Whether it is on this machine: its certificate is for other names, and nobody else can listen at its port. */
  readonly isLocal?: boolean;
}

export type RemoteOptions = Partial<Pick<Remote, 'url' | 'key'>>;

export interface RemoteCall {
  /** Sent as JSON. */
  readonly body?: object;
  /** Default: POST with a body, else GET. */
  readonly method?: 'DELETE';
  /** Media type of the response. Default: JSON. */
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface RemoteResponse {
  readonly bytes: Buffer;
  readonly mediaType: string;
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

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:4000.');
}

/** As `fetchRemote`, for a route of JSON. @returns the JSON; `undefined` of an empty body */
export async function callRemote(remote: Remote, path: string, call: RemoteCall = {}): Promise<unknown> {
  const { bytes } = await fetchRemote(remote, path, call);
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString());
}

/**
 * Calls a route of a running service.
 *
 * @throws TailraceError with the code and message of the service, `engine_unavailable` if it cannot be reached;
 *   InputError if the response is not one of Tailrace; StoppedError if `signal` aborts
 */
export async function fetchRemote(
  remote: Remote,
  path: string,
  { body, method, accept = JSON_TYPE, signal }: RemoteCall,
): Promise<RemoteResponse> {
  const { url } = remote;
  const headers = { accept, ...(body && { 'content-type': JSON_TYPE }) };
  const request = { headers, body: body && JSON.stringify(body), method, signal };
  const sent = await sendRequest(remote, path, request).catch((cause) => {
    if (signal?.aborted === true) throw new StoppedError(`stopped by ${signal.reason}`, { cause });
    const message = `${url} cannot be reached: ${messageOf(cause)}`;
    throw new TailraceError('engine_unavailable', message, { cause });
  });
  const mediaType = sent.headers['content-type']?.split(';')[0] ?? '';
  const ignored = parseIgnored(String(sent.headers[IGNORED_HEADER] ?? ''));
  const response = { bytes: sent.bytes, mediaType, ignored };
  if (sent.status >= 200 && sent.status < 300) return response;
  throw toError(url, response, `${sent.status}${describeRedirect(sent.headers.location)}`);
}

export interface RemoteRequest {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array | undefined;
  /** Default: POST with a body, else GET. */
  readonly method?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request with the key, and reads the response of any status. Redirects are not followed: that would send the
 * key on to another host.
 *
 * @throws Error if there is no response
 */
export async function sendRequest(
  { url, key, isLocal = false }: Remote,
  path: string,
  { headers, body, method = body === undefined ? 'GET' : 'POST', signal }: RemoteRequest,
): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const own = { 'x-api-key': key, ...headers };
  const options = { method, headers: own, signal, rejectUnauthorized: !isLocal };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  send(`${url.replace(/\/+$/, '')}${path}`, options, resolve)
    .once('error', reject)
    .end(body);
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) };
}

const JSON_TYPE = mediaTypeOf(JSON_FORMAT);

/** Returns the failure with the ignored parameters: a mistyped one may be the missing one. */
function toError(url: string, { bytes, ignored }: RemoteResponse, status: string): Error {
  const error = readFailure(bytes);
  const code = findErrorCode(error?.code);
  if (error?.message === undefined || code === undefined)
    return new InputError([`${url} is not a Tailrace service: it responded with ${status}`]);
  const unknown = ignored.map((name) => `parameter ${JSON.stringify(name)} is not known`);
  return new TailraceError(code, [`${url}: ${error.message}`, ...unknown].join('; '));
}

/** Reads the error of a response; `undefined` if it is not one of Tailrace. */
export function readFailure(bytes: Buffer): { code?: string; message?: string } | undefined {
  try {
    return (JSON.parse(bytes.toString()) as { error?: { code?: string; message?: string } }).error;
  } catch {
    return undefined;
  }
}

/** Writes the end of a message about a redirect, which is not followed; empty for any other response. */
export function describeRedirect(location: string | null | undefined): string {
  return location ? ` to ${location}; give the address of the service itself` : '';
}
