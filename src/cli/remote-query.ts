import {
  ERROR_CODES,
  type ErrorCode,
  InputError,
  messageOf,
  StoppedError,
  TailraceError,
} from '../errors.ts';
import type { EndpointView } from '../management/view.ts';
import type { RawParameters } from '../query/parameters.ts';
import type { Remote } from './remote.ts';

/**
 * Asks an endpoint of a running service, which answers from its cache if it can.
 *
 * @returns `{"result":[…]}`
 * @throws TailraceError with the code and message of the service, `engine_unavailable` if it cannot be reached; InputError for an
 * answer that is not one of Tailrace; StoppedError when `signal` aborts
 */
export async function queryRemote(
  remote: Remote,
  { endpoint, raw }: { readonly endpoint: string; readonly raw: RawParameters },
  signal: AbortSignal,
): Promise<Buffer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(raw))
    for (const text of [value ?? []].flat()) query.append(name, text);
  return await get(remote, `/api/endpoints/query/${encodeURIComponent(endpoint)}?${query}`, signal);
}

/** The endpoint as the service describes it; `undefined` if the key may not know of it. @throws as `queryRemote` */
export async function findRemoteEndpoint(
  remote: Remote,
  idOrName: string,
  signal: AbortSignal,
): Promise<EndpointView | undefined> {
  const { result } = JSON.parse((await get(remote, '/api/endpoints', signal)).toString()) as {
    result: EndpointView[];
  };
  return result.find(({ id, name }) => name === idOrName || id === idOrName.toLowerCase());
}

async function get({ url, key }: Remote, path: string, signal: AbortSignal): Promise<Buffer> {
  const address = `${url.replace(/\/+$/, '')}${path}`;
  try {
    const response = await fetch(address, { headers: { 'x-api-key': key }, signal });
    const body = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    if (response.ok && isJson) return body;
    throw toError(url, response, isJson ? body : undefined);
  } catch (error) {
    if (signal.aborted) throw new StoppedError(`stopped by ${signal.reason}`, { cause: error });
    if (error instanceof TailraceError || error instanceof InputError) throw error;
    const why = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    throw new TailraceError('engine_unavailable', `${url} cannot be reached: ${why}`);
  }
}

function toError(url: string, { status, statusText }: Response, body: Buffer | undefined): Error {
  const { error } = (body === undefined ? {} : JSON.parse(body.toString())) as {
    error?: { code?: string; message?: string };
  };
  if (error?.message !== undefined && isErrorCode(error.code))
    return new TailraceError(error.code, `${url}: ${error.message}`);
  return new InputError([`${url} is no Tailrace service: it answered ${status} ${statusText}`.trimEnd()]);
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code);
}
