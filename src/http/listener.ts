import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { IGNORED_HEADER } from '../query/parameters.ts';
import { type Admission, type Admit, readKey } from '../serve/admit.ts';
import { type Described, describeServed } from '../serve/describe.ts';
import type { AppParts } from './parts.ts';
import type { Admissions } from './plugins/auth.ts';
import type { createCorsHead } from './plugins/cors.ts';
import { type AddressReader, createRequestId, HUNG_UP, type Observe } from './plugins/observe.ts';
import { QUERY_PATH } from './routes/query.ts';

export interface ListenerParts extends Pick<AppParts, 'recall' | 'cached' | 'describe' | 'metrics'> {
  readonly admissions: Admissions;
  readonly observe: Observe;
  readonly addressOf: AddressReader;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cors: ReturnType<typeof createCorsHead>;
  /** Aborts when the service begins to shut down. */
  readonly closing: AbortSignal;
}

/** Responds to a request, or returns `false` to pass it to the framework. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Serves cached GETs ahead of the framework, whose routing, hooks and replies cost more than such an answer. It takes
 * the same steps as routes/query.ts, as long as each returns at once: a rejection, an unknown URL, a miss, or a step
 * that returns a promise passes the request to the framework, together with the admission, so that nothing is counted
 * twice. test/http/listener.test.ts compares both ways.
 */
export function createListener(parts: ListenerParts): Answer {
  const { admissions, recall, cached, describe, observe, addressOf, metrics, cors } = parts;
  const fixed = Object.entries(parts.headers).flat();

  /** The steps after the admission. `undefined`: the framework has to take them. */
  function answer({ method, url, headers }: IncomingMessage, { caller, head, error }: Admission) {
    if (error !== undefined || caller?.scopes.includes('query') !== true) return undefined;
    const resolved = recall({ caller, url, headers });
    if (resolved === undefined) return undefined;
    const served = cached.find(resolved.question, resolved.directives);
    if (served === undefined) return undefined;
    const { question, encoding } = resolved;
    const { endpoint } = question;
    const allowed = cors?.(headers.origin);
    const { isAmbient } = caller;
    const exchange = { method, headers, vary: allowed?.vary, url, question, encoding, isAmbient };
    const described = describe(exchange, served);
    if (described instanceof Promise) return undefined;
    const wholeHead = fixed.concat(described.head, head);
    if (allowed !== undefined) wholeHead.push(...allowed.head);
    if (resolved.ignored !== undefined) wholeHead.push(IGNORED_HEADER, resolved.ignored);
    return { caller, endpointName: endpoint.name, served, described, head: wholeHead };
  }

  function handOn(request: IncomingMessage, admission: ReturnType<Admit> | undefined): false {
    if (admission !== undefined) admissions.handedOn.set(request, admission);
    // Its hook reports a rejection, unless it rejects the request before.
    if (admission instanceof Promise) admission.catch(() => {});
    return false;
  }

  return (request, response) => {
    const startMs = performance.now();
    if (!isPlain(request) || parts.closing.aborted) return false;
    const ip = addressOf(request);
    let admission: ReturnType<Admit> | undefined;
    let taken: ReturnType<typeof answer>;
    try {
      admission = admissions.admit(readKey(request.headers) ?? admissions.readAmbient(request), ip);
      if (!(admission instanceof Promise)) taken = answer(request, admission);
    } catch {} // the step fails in the framework, too, which responds with the error
    if (taken === undefined) return handOn(request, admission);
    const { caller, endpointName, served, described, head } = taken;
    const id = createRequestId(request.headers);
    head.push('x-request-id', id);
    send(response, described, head);
    metrics.served(endpointName, served.outcome, served.answer.rows);
    const end = (status: number) => {
      const { method = '' } = request;
      const seen = { id, method, caller, ip, endpointName, detail: describeServed(served) };
      observe(seen, { route: QUERY_PATH, status, ms: performance.now() - startMs });
    };
    // A `close` event costs a fifth of a response.
    if (isSent(response)) end(described.status);
    else response.on('close', () => end(response.writableFinished ? described.status : HUNG_UP));
    return true;
  };
}

function send(response: ServerResponse, { status, representation }: Described, head: string[]): void {
  response.writeHead(status, head);
  // A text is sent in one piece with the head. Bytes would be a second piece, which costs as much again.
  if (representation?.text !== undefined) response.end(representation.text, 'latin1');
  else response.end(representation?.body);
}

/** Registers this listener ahead of the framework's, which is the only one of its server. */
export function listenBefore(server: Server, answer: Answer): void {
  const [framework] = server.listeners('request') as RequestListener[]; // Node emits only requests under this name
  if (framework === undefined) throw new Error('the framework does not listen to its server');
  server.removeListener('request', framework);
  server.prependListener('request', (request, response) => {
    if (!answer(request, response)) framework.call(server, request, response);
  });
}

const PREFIX = QUERY_PATH.slice(0, QUERY_PATH.indexOf(':'));

/** A GET or HEAD of an endpoint that the framework does not reject for its head or a body. */
function isPlain(request: IncomingMessage): boolean {
  const { method, url = '' } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && isEndpointUrl(url) && !hasBody(request) && findHeadFault(request) === undefined;
}

type Head = Pick<IncomingMessage, 'headers'>;

/** Whether a request sends a body, or has one in chunks, which may be empty. */
export function hasBody(head: Head): boolean {
  return head.headers['transfer-encoding'] !== undefined || hasLength(head);
}

/** Whether a request says that its body has bytes. */
export function hasLength({ headers }: Head): boolean {
  return Number(headers['content-length'] ?? 0) > 0;
}

/** Whether a URL has one more segment than the prefix. Other paths have no endpoint. */
function isEndpointUrl(url: string): boolean {
  if (!url.startsWith(PREFIX)) return false;
  const slash = url.indexOf('/', PREFIX.length);
  return slash === -1 || url.lastIndexOf('?', slash) !== -1;
}

/** Whether the operating system has accepted the whole response. */
function isSent({ socket }: ServerResponse): boolean {
  return socket !== null && !socket.destroyed && socket.writableLength === 0;
}

/** All headers of a request together. Node bounds them together with the URL, which may be much longer. */
export const HEADERS_CHARS_MAX = 32 * 1024;
/**
 * Characters of headers that take long to read, some in a time that grows with the square of their length: browsers
 * send a few hundred, and each proxy adds an address of at most 45.
 */
export const LISTED_CHARS_MAX = 2_048;
const LISTED = ['accept', 'accept-encoding', 'cache-control', 'x-forwarded-for'] as const;

/**
 * Finds a fault in the head of a request that Node's parser accepts. The framework rejects such a request, too (RFC 9112,
 * 3.2 and 6.1): a proxy in front may read the head differently.
 */
export function findHeadFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1')
    return 'the Host header is missing, which HTTP/1.1 requires';
  const { hosts, chars } = measure(rawHeaders);
  if (hosts > 1) return 'there is more than one Host header; send one';
  if (chars > HEADERS_CHARS_MAX) return `the headers together exceed ${HEADERS_CHARS_MAX} characters`;
  const long = LISTED.find((name) => (headers[name]?.length ?? 0) > LISTED_CHARS_MAX);
  if (long !== undefined) return `the header ${long} is longer than ${LISTED_CHARS_MAX} characters`;
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'chunked') return undefined;
  const shown = JSON.stringify(encoding.slice(0, SHOWN_CHARS_MAX));
  return `Transfer-Encoding: ${shown} is not supported; send chunked, or a Content-Length`;
}

const SHOWN_CHARS_MAX = 100;

/** @param rawHeaders names and values alternating */
function measure(rawHeaders: readonly string[]): { hosts: number; chars: number } {
  let hosts = 0;
  let chars = 0;
  // By index: an iterator over entries takes several times as long.
  for (let at = 0; at < rawHeaders.length; at++) {
    const text = rawHeaders[at] ?? '';
    chars += text.length;
    if (at % 2 === 0 && text.length === 'host'.length && text.toLowerCase() === 'host') hosts++;
  }
  return { hosts, chars };
}
