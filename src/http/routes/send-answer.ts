import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import type { Served } from '../../cache/cached.ts';
import {
  ENCODINGS,
  type Encoding,
  type Representation,
  type Representations,
} from '../../cache/representation.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { createHeaderReader } from '../header-reader.ts';

export type SendAnswer = (
  request: FastifyRequest,
  reply: FastifyReply,
  what: { readonly endpoint: Endpoint; readonly served: Served },
) => FastifyReply | Promise<FastifyReply>;

/** Sends an answer in the best encoding that the caller takes, or says that the caller has it already (304). */
export function createSendAnswer(representations: Representations): SendAnswer {
  const encodingOf = createHeaderReader('accept-encoding', (request): Encoding => {
    const accepts = request.accepts();
    return ENCODINGS.find((one) => accepts.encodings([one]) !== false) ?? 'identity';
  });
  return (request, reply, { endpoint, served }) => {
    const form = representations.get(served.answer, encodingOf(request));
    if (!(form instanceof Promise)) return send(request, reply, { endpoint, served, form });
    return form.then((done) => send(request, reply, { endpoint, served, form: done }));
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
  reply
    .header('cache-control', cacheControl(endpoint))
    .header('vary', varyWith(reply.getHeader('vary')))
    .header('etag', form.etag)
    .header('cache-status', cacheStatus(endpoint, served))
    .header('age', served.ageSeconds)
    .header('server-timing', `engine;dur=${engineMsOf(served).toFixed(1)}`);
  // Of a POST nobody keeps the answer.
  if (request.method !== 'POST' && fresh(request.headers, { etag: form.etag })) return reply.code(304).send();
  if (form.encoding !== 'identity') reply.header('content-encoding', form.encoding);
  return reply.header('content-type', 'application/json; charset=utf-8').send(form.body);
}

/** What an answer took of the engine for this request: nothing, where it was kept. */
export function engineMsOf({ answer, outcome }: Served): number {
  return outcome === 'hit' || outcome === 'stale' ? 0 : answer.engineMs;
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
