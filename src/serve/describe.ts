import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type CacheOutcome, COMPRESSED_SHARE_MAX, type Served, TEXT_BYTES_MAX } from '../cache/store.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { HASHED_BYTES_MAX, hashByParts } from '../lib/hash.ts';
import type { Cursors } from '../query/cursor.ts';
import type { Question } from '../query/question.ts';
import type { Answer } from '../query/run.ts';
import type { Head } from './admit.ts';
import { COMPRESS, type Compressed, type Encoding } from './negotiate.ts';

/** An answer in one Content-Encoding. */
interface Representation {
  readonly encoding: Encoding;
  readonly body: Buffer;
  /** The same bytes, one to a character (latin1); `undefined` for more than `TEXT_BYTES_MAX`. */
  readonly text: string | undefined;
  /** Strong: differs for other bytes, even if only the encoding differs. With its quotation marks. */
  readonly etag: string;
}

/** A response to a question, without the parts that all responses share. */
export interface Described {
  readonly status: 200 | 304;
  readonly head: Head;
  /** The body, sent unless the request is a HEAD; `undefined`: none. */
  readonly representation: Representation | undefined;
}

interface Exchange {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The existing `Vary`: with listed origins it is `Origin`. */
  readonly vary?: string | undefined;
  /** As the caller sent it. */
  readonly url: string | undefined;
  readonly question: Question;
  readonly encoding: Encoding;
  /** Whether a browser identifies the caller by itself. */
  readonly isAmbient?: true | undefined;
}

/**
 * Does the last step: answer → status, headers and bytes. Returns a promise only while the answer is being compressed,
 * or a large one hashed.
 */
export type Describe = (exchange: Exchange, served: Served) => Described | Promise<Described>;

export function createDescribe(cursors: Cursors): Describe {
  const represent = createRepresent();
  const findNextLink = createNextLinks(cursors);

  function describe(exchange: Exchange, served: Served, representation: Representation): Described {
    const { method, headers, vary, isAmbient, question } = exchange;
    const { endpoint } = question;
    const { encoding, body, etag } = representation;
    const head = ['cache-control', cacheControl(endpoint, isAmbient)];
    head.push('vary', `${vary === undefined ? '' : `${vary}, `}${isAmbient ? AMBIENT_VARY : VARY}`);
    head.push('cache-status', cacheStatus(endpoint, served), 'age', String(served.ageSeconds));
    head.push('server-timing', `engine;dur=${engineMsOf(served).toFixed(1)}`, 'etag', etag);
    const next = findNextLink(exchange, served.answer);
    if (next !== undefined) head.push('link', next);
    // Callers do not cache the response to a POST.
    if (method !== 'POST' && isKnown(headers, etag)) return { status: 304, head, representation: undefined };
    const { name, mediaTypes, isFile } = served.answer.format;
    head.push('content-type', mediaTypes[0]);
    if (isFile) head.push('content-disposition', `attachment; filename="${endpoint.name}.${name}"`);
    if (encoding !== 'identity') head.push('content-encoding', encoding);
    head.push('content-length', String(body.length));
    return { status: 200, head, representation };
  }

  return (exchange, served) => {
    const representation = represent(served.answer, exchange.encoding);
    if (!(representation instanceof Promise)) return describe(exchange, served, representation);
    return representation.then((ready) => describe(exchange, served, ready));
  };
}

/**
 * Whether the caller has the answer. `Cache-Control: no-cache`, which `fetch` adds to a request with `If-None-Match`,
 * asks for a new answer, which may be the same, so it does not count. Tags are compared weakly (RFC 9110, 13.1.2), since
 * proxies weaken them; ours have no comma.
 */
export function isKnown({ 'if-none-match': known }: IncomingHttpHeaders, etag: string): boolean {
  return known === '*' || (known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false);
}

/** For the log. */
export function describeServed(served: Served): Record<string, unknown> {
  return {
    cache: served.outcome,
    rows: served.answer.rows,
    engine_ms: Math.round(engineMsOf(served) * 10) / 10,
  };
}

const COMPUTED: ReadonlySet<CacheOutcome> = new Set(['miss', 'collapsed', 'bypass']);

/** Returns the time in the engine for this request, ms: none if the answer was kept here or by another replica. */
function engineMsOf({ answer, outcome }: Served): number {
  return COMPUTED.has(outcome) ? answer.engineMs : 0;
}

const VARY = 'Accept, Accept-Encoding, X-API-KEY, Authorization';
const AMBIENT_VARY = `${VARY}, Cookie`;

/**
 * Returns `Cache-Control`. Private: rows belong to the key of the request, so no shared cache may keep them. A caller
 * may keep them as long as Tailrace does; a browser that identifies it by itself has to ask again, since a session may
 * have ended.
 */
function cacheControl({ cachingSeconds }: Endpoint, isAmbient: true | undefined): string {
  if (isAmbient) return cachingSeconds === undefined ? 'private, no-store' : 'private, no-cache';
  return cachingSeconds === undefined ? 'private, no-store' : `private, max-age=${cachingSeconds}`;
}

/** Returns `Cache-Status` (RFC 9211). `fwd=bypass`: the endpoint is not cached. `fwd=request`: `no-store` was asked for. */
function cacheStatus({ cachingSeconds }: Endpoint, { outcome, ageSeconds }: Served): string {
  const hit = `hit; ttl=${(cachingSeconds ?? 0) - ageSeconds}`;
  const details: Record<CacheOutcome, string> = {
    hit,
    shared: `${hit}; detail=shared`,
    miss: 'fwd=miss; stored',
    collapsed: 'fwd=miss; collapsed',
    stale: `${hit}; fwd=stale; fwd-status=503; detail=stale-if-error`,
    bypass: cachingSeconds === undefined ? 'fwd=bypass' : 'fwd=request',
  };
  return `Tailrace; ${details[outcome]}`;
}

// A smaller answer fits in a packet anyway, and compressing costs more than it saves.
const PLAIN_BYTES_MAX = 1_024;

/** A promise only while it is being created. */
type Represented = Representation | Promise<Representation>;

/**
 * Creates each representation of an answer once, and keeps it as long as the answer itself. Small answers are not
 * compressed, and a form that is too large to be kept is sent and dropped.
 */
export function createRepresent(): (answer: Answer, encoding: Encoding) => Represented {
  const known = new WeakMap<Answer, Map<Encoding, Represented>>();

  function formOf(answer: Answer, encoding: Encoding): Represented {
    const forms = known.get(answer) ?? new Map<Encoding, Represented>();
    known.set(answer, forms);
    const kept = forms.get(encoding);
    if (kept !== undefined) return kept;
    const form = encoding === 'identity' ? createPlain(answer.body) : compress(answer, encoding);
    forms.set(encoding, form); // concurrent requests share a promise
    if (form instanceof Promise)
      form.then(
        (ready) => (isSmall(ready, answer) ? forms.set(encoding, ready) : forms.delete(encoding)),
        () => forms.delete(encoding),
      );
    return form;
  }

  async function compress(answer: Answer, encoding: Compressed): Promise<Representation> {
    const { body, etag } = await formOf(answer, 'identity');
    return createForm(encoding, await COMPRESS[encoding](body), etag.replace(/"$/, `-${encoding}"`));
  }

  return (answer, encoding) => {
    const isPlain = answer.format.isCompressed || answer.body.length <= PLAIN_BYTES_MAX;
    return formOf(answer, isPlain ? 'identity' : encoding);
  };
}

function isSmall({ encoding, body }: Representation, answer: Answer): boolean {
  return encoding === 'identity' || body.length <= answer.body.length * COMPRESSED_SHARE_MAX;
}

function createPlain(body: Buffer): Represented {
  const toForm = (digest: string) => createForm('identity', body, `"${digest.slice(0, 22)}"`);
  if (body.length > HASHED_BYTES_MAX) return hashByParts(body, 'base64url').then(toForm);
  return toForm(hash('sha256', body, 'base64url'));
}

function createForm(encoding: Encoding, body: Buffer, etag: string): Representation {
  return { encoding, body, text: body.length <= TEXT_BYTES_MAX ? body.toString('latin1') : undefined, etag };
}

// Node's `fetch` rejects responses with more than 16 KiB of headers; without the link it reads the page.
const LINK_CHARS_MAX = 8_192;

/** Finds the `Link` of a full page to the next one (RFC 8288), unless it is too long. Each cursor is signed once. */
function createNextLinks(cursors: Pick<Cursors, 'createWriter'>) {
  const known = new WeakMap<Answer, string>();
  return ({ url, question }: Exchange, answer: Answer): string | undefined => {
    if (url === undefined || answer.last === undefined) return undefined;
    const { endpoint, values } = question;
    const cursor = known.get(answer) ?? cursors.createWriter(endpoint, values)(answer.last);
    known.set(answer, cursor);
    const link = `<${withCursor(url, cursor)}>; rel="next"`;
    return link.length > LINK_CHARS_MAX ? undefined : link;
  };
}

/** Returns the URL with another cursor. */
function withCursor(url: string, cursor: string): string {
  const [path = ''] = url.split('?', 1);
  const parameters = new URLSearchParams(url.slice(path.length));
  parameters.set(CURSOR_PARAMETER, cursor);
  return `${path}?${parameters}`.replaceAll(/[<>"\\^`{|} ]/g, encodeURIComponent); // a reference in < > has none of these
}
