import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import type { CacheOutcome, Served } from '../cache/cached.ts';
import {
  ENCODINGS,
  type Encoding,
  type Representation,
  type Representations,
} from '../cache/representation.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import type { Answer } from '../query/run.ts';
import { addHead, type Head } from './head.ts';
import { createHeaderReader } from './header-reader.ts';

export interface Sending {
  readonly endpoint: Endpoint;
  readonly served: Served;
}

export interface Sender {
  /** @throws TailraceError `not_acceptable` where the caller takes no JSON */
  requireAcceptable(request: FastifyRequest): void;
  /** Sends an answer in the best encoding that the caller takes, or says that the caller has it already (304). */
  send(request: FastifyRequest, reply: FastifyReply, what: Sending): FastifyReply | Promise<FastifyReply>;
  /** The form of an answer that a caller with these headers gets; `undefined` where headers or form are yet to be worked out. */
  findForm(headers: IncomingHttpHeaders, answer: Answer): Representation | undefined;
}

// With and without: a range that names the charset matches only a type that has it.
const OFFERED = ['application/json', 'application/json; charset=utf-8'];

export function createSender(representations: Representations): Sender {
  const takesJson = createHeaderReader('accept', (request) => request.accepts().type(OFFERED) !== false);
  const encodingOf = createHeaderReader('accept-encoding', (request): Encoding => {
    const accepts = request.accepts();
    return ENCODINGS.find((one) => accepts.encodings([one]) !== false) ?? 'identity';
  });
  return {
    requireAcceptable(request) {
      if (takesJson.read(request)) return;
      throw new TailraceError('not_acceptable', 'answers are application/json; accept that or */*');
    },
    send(request, reply, what) {
      const form = representations.get(what.served.answer, encodingOf.read(request));
      if (!(form instanceof Promise)) return send(request, reply, { ...what, form });
      return form.then((done) => send(request, reply, { ...what, form: done }));
    },
    findForm(headers, answer) {
      const encoding = takesJson.find(headers) === true ? encodingOf.find(headers) : undefined;
      return encoding && representations.find(answer, encoding);
    },
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { endpoint, served, form }: Sending & { readonly form: Representation },
): FastifyReply {
  addHead(reply, describeAnswer({ endpoint, served, form }, reply.getHeader('vary')));
  // Of a POST nobody keeps the answer.
  if (request.method !== 'POST' && fresh(request.headers, { etag: form.etag })) return reply.code(304).send();
  addHead(reply, describeForm(form));
  return reply.send(form.body);
}

/**
 * What is said of an answer, whether it is sent or not.
 *
 * @param vary what the answer varies by beside what all do: one to a listed origin varies by that
 */
export function describeAnswer(
  { endpoint, served, form }: Sending & { readonly form: Representation },
  vary?: unknown,
): Head {
  return [
    'cache-control',
    cacheControl(endpoint),
    'vary',
    typeof vary === 'string' ? `${vary}, ${VARY}` : VARY,
    'etag',
    form.etag,
    'cache-status',
    cacheStatus(endpoint, served),
    'age',
    String(served.ageSeconds),
    'server-timing',
    `engine;dur=${engineMsOf(served).toFixed(1)}`,
  ];
}

/** What is said of the bytes that are sent. */
export function describeForm({ encoding, body }: Representation): Head {
  const plain = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)];
  return encoding === 'identity' ? plain : ['content-encoding', encoding, ...plain];
}

/** For the log. */
export function describeServed(served: Served): Record<string, unknown> {
  return {
    cache: served.outcome,
    rows: served.answer.rows,
    engine_ms: Math.round(engineMsOf(served) * 10) / 10,
  };
}

const OF_THE_ENGINE: ReadonlySet<CacheOutcome> = new Set(['miss', 'collapsed', 'bypass']);

/** What an answer took of the engine for this request: nothing, where it was kept here or by another replica. */
function engineMsOf({ answer, outcome }: Served): number {
  return OF_THE_ENGINE.has(outcome) ? answer.engineMs : 0;
}

const VARY = 'Accept-Encoding, X-API-KEY, Authorization';

/** Private: rows belong to the key that asked, and no shared cache may keep them. A caller may keep them as long as we do. */
function cacheControl({ cachingSeconds }: Endpoint): string {
  return cachingSeconds === undefined ? 'private, no-store' : `private, max-age=${cachingSeconds}`;
}

/** RFC 9211. `fwd=bypass`: this endpoint is configured not to be cached. `fwd=request`: the request asked for `no-store`. */
function cacheStatus({ cachingSeconds }: Endpoint, { outcome, ageSeconds }: Served): string {
  const ttl = (cachingSeconds ?? 0) - ageSeconds;
  if (outcome === 'hit') return `Tailrace; hit; ttl=${ttl}`;
  if (outcome === 'shared') return `Tailrace; hit; ttl=${ttl}; detail=shared`;
  if (outcome === 'miss') return 'Tailrace; fwd=miss; stored';
  if (outcome === 'collapsed') return 'Tailrace; fwd=miss; collapsed';
  if (outcome === 'stale')
    return `Tailrace; hit; ttl=${ttl}; fwd=stale; fwd-status=503; detail=stale-if-error`;
  return cachingSeconds === undefined ? 'Tailrace; fwd=bypass' : 'Tailrace; fwd=request';
}
