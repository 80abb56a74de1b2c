import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { LRUCache } from 'lru-cache';
import type { Served } from '../../cache/cached.ts';
import {
  ENCODINGS,
  type Encoding,
  type Representation,
  type Representations,
} from '../../cache/representation.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';

export type SendAnswer = (
  request: FastifyRequest,
  reply: FastifyReply,
  what: { readonly endpoint: Endpoint; readonly served: Served },
) => FastifyReply | Promise<FastifyReply>;

/** Sends an answer in the best encoding that the caller takes, or says that the caller has it already (304). */
export function createSendAnswer(representations: Representations): SendAnswer {
  const encodingOf = createNegotiation();
  return (request, reply, { endpoint, served }) => {
    const form = representations.get(served.answer, encodingOf(request));
    if (!(form instanceof Promise)) return send(request, reply, { endpoint, served, form });
    return form.then((done) => send(request, reply, { endpoint, served, form: done }));
  };
}

// Clients send one of a few dozen texts.
const HEADERS_MAX = 1_000;
const HEADER_CHARS_MAX = 200;

function createNegotiation(): (request: FastifyRequest) => Encoding {
  const known = new LRUCache<string, Encoding>({ max: HEADERS_MAX });
  return (request) => {
    const header = request.headers['accept-encoding'];
    if (typeof header !== 'string') return 'identity';
    const found = known.get(header);
    if (found !== undefined) return found;
    const accepts = request.accepts();
    const encoding = ENCODINGS.find((one) => accepts.encodings([one]) !== false) ?? 'identity';
    if (header.length <= HEADER_CHARS_MAX) known.set(header, encoding);
    return encoding;
  };
}

interface Sending {
  readonly endpoint: Endpoint;
  readonly served: Served;
  readonly form: Representation;
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { endpoint, served, form }: Sending,
): FastifyReply {
  const { answer, outcome, ageSeconds } = served;
  const engineMs = outcome === 'hit' || outcome === 'stale' ? 0 : answer.engineMs;
  reply
    .header('cache-control', cacheControl(endpoint))
    .header('vary', varyWith(reply.getHeader('vary')))
    .header('etag', form.etag)
    .header('cache-status', cacheStatus(endpoint, served))
    .header('age', ageSeconds)
    .header('server-timing', `engine;dur=${engineMs.toFixed(1)}`);
  // Of a POST nobody keeps the answer.
  if (request.method !== 'POST' && fresh(request.headers, { etag: form.etag })) return reply.code(304).send();
  if (form.encoding !== 'identity') reply.header('content-encoding', form.encoding);
  return reply.header('content-type', 'application/json; charset=utf-8').send(form.body);
}

const VARY = 'Accept-Encoding, X-API-KEY, Authorization';

/** Beside what was said before: an answer to a listed origin varies by it. */
function varyWith(before: unknown): string {
  return typeof before === 'string' ? `${before}, ${VARY}` : VARY;
}

/** Private: rows belong to the key that asked, and no shared cache may keep them. A caller may keep them as long as we do. */
function cacheControl({ cachingSeconds }: Endpoint): string {
  return cachingSeconds === undefined ? 'private, no-store' : `private, max-age=${cachingSeconds}`;
}

/** RFC 9211. `fwd=bypass`: this endpoint is configured not to be cached. */
function cacheStatus({ cachingSeconds = 0 }: Endpoint, { outcome, ageSeconds }: Served): string {
  const ttl = cachingSeconds - ageSeconds;
  if (outcome === 'hit') return `Tailrace; hit; ttl=${ttl}`;
  if (outcome === 'miss') return 'Tailrace; fwd=miss; stored';
  if (outcome === 'collapsed') return 'Tailrace; fwd=miss; collapsed';
  if (outcome === 'stale')
    return `Tailrace; hit; ttl=${ttl}; fwd=stale; fwd-status=503; detail=stale-if-error`;
  return 'Tailrace; fwd=bypass';
}

/**
 * How old an answer the caller takes, by its `Cache-Control`: `no-cache` asks for one of now, `max-age` for a bound in seconds.
 * Directives that we do not know are passed over.
 */
export function findMaxAge(request: FastifyRequest): number | undefined {
  const header = request.headers['cache-control'];
  if (header === undefined) return undefined;
  if (NO_CACHE.test(header)) return 0;
  const seconds = MAX_AGE.exec(header)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

const NO_CACHE = /(?:^|,)\s*no-(?:cache|store)\s*(?:,|$)/i;
const MAX_AGE = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,9})"?\s*(?:,|$)/i;
