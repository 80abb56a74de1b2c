import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { CacheDirectives } from '../cache/store.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import type { Cursors } from '../query/cursor.ts';
import { FORMATS, type Format, findFormats, findNamedFormat, mediaTypeOf } from '../query/format.ts';
import type { ParameterValues, RawParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import { bindPosition } from '../query/position.ts';
import { createQuestion, type Question } from '../query/question.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/sandbox.ts';

/** The result of resolving a request. */
export interface Resolved {
  readonly question: Question;
  /** Content-Encoding of the response: the best that the caller accepts. */
  readonly encoding: Encoding;
  readonly directives: CacheDirectives;
  /** Value of the header that names unread parameters; `undefined` if there are none. */
  readonly ignored: string | undefined;
}

/** A request to an endpoint that the caller may read: src/keys/named.ts. */
export interface Inquiry {
  readonly caller: Caller;
  /** The whole question is in it and in the headers; `undefined` for a POST. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly endpoint: Endpoint;
  readonly parameters: RawParameters;
  /** See `Resolved`. */
  readonly ignored: string | undefined;
  /** Matches `Accept` and `Accept-Encoding`. */
  readonly accepts: Accepts;
  /** Checks the SELECT of a caller, if there is one. */
  readonly sandboxed: SandboxOptions;
}

/** The npm package `accepts`, for one request. */
interface Accepts {
  type(types: string[]): string | string[] | false;
  encodings(encodings: string[]): string | string[] | false;
}

export interface Resolve {
  /**
   * Does the second step: endpoint, parameters, pins and negotiation → question.
   *
   * @throws TailraceError `forbidden`, `not_acceptable`, `invalid_parameter`
   */
  resolve(inquiry: Inquiry): Resolved | Promise<Resolved>;
  /** What `resolve` returned for this URL before, if that is still valid. */
  recall(inquiry: Pick<Inquiry, 'caller' | 'url' | 'headers'>): Resolved | undefined;
}

interface ResolveOptions {
  readonly registry: Registry;
  readonly sandbox: Sandbox;
  readonly cursors: Cursors;
  /** Called if a caller sends `sql` to an endpoint without sandboxing and without a parameter of this name. */
  readonly onIgnoredSql: (endpoint: Endpoint) => void;
}

// Characters; beyond it the least recently used are resolved again. At most twice as many bytes.
const REMEMBERED_CHARS_MAX = 4 * 1024 * 1024;
const OVERHEAD_CHARS = 200;
const NO_DIRECTIVES: CacheDirectives = {};

/** Valid for the definitions and the grant that it was resolved with. A reload and a changed key bring new objects. */
interface Remembered extends Resolved {
  readonly endpoints: Registry['endpoints'];
  readonly allowed: Caller['endpoints'];
  readonly pins: Caller['pins'];
}

/** Remembers the result for cacheable URLs: clients repeat them, and resolving costs more than finding the answer. */
export function createResolve(options: ResolveOptions): Resolve {
  const { registry, sandbox, cursors, onIgnoredSql } = options;
  const remembered = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_CHARS_MAX,
    sizeCalculation: ({ question, ignored = '' }, name) =>
      name.length + 2 * question.key.length + ignored.length + OVERHEAD_CHARS,
  });

  const recall: Resolve['recall'] = ({ caller, url, headers }) => {
    if (url === undefined) return undefined;
    const known = remembered.get(nameOf(caller, url, headers));
    if (known === undefined || known.endpoints !== registry.endpoints) return undefined;
    return known.allowed === caller.endpoints && known.pins === caller.pins ? known : undefined;
  };

  function remember({ caller, url, headers, endpoint }: Inquiry, resolved: Resolved): void {
    const isCacheable = endpoint.cachingSeconds !== undefined && resolved.directives.noStore !== true;
    if (url === undefined || !isCacheable) return;
    const grant = { endpoints: registry.endpoints, allowed: caller.endpoints, pins: caller.pins };
    remembered.set(nameOf(caller, url, headers), { ...resolved, ...grant });
  }

  /** Returns the values of the page that a request asks for. */
  function goOn(endpoint: Endpoint, first: ParameterValues, raw: RawParameters): ParameterValues {
    return { ...first, ...bindPosition(endpoint.pages, cursors.read(endpoint, first, raw)) };
  }

  function read(inquiry: Inquiry): Resolved | Promise<Resolved> {
    const { caller, endpoint, parameters, accepts, headers, sandboxed, ignored } = inquiry;
    const format = findNamedFormat(endpoint, parameters) ?? chooseFormat(accepts, endpoint);
    const first = parsePinnedParameters(endpoint, parameters, { pins: caller.pins });
    const values = endpoint.pages === undefined ? first : goOn(endpoint, first, parameters);
    const encoding = chooseEncoding(accepts);
    const directives = readDirectives(headers);
    const toResolved = (of: Endpoint) => ({
      question: createQuestion(of, values, format),
      encoding,
      directives,
      ignored,
    });
    if (endpoint.sandboxing) return sandbox(endpoint, parameters, sandboxed).then(toResolved);
    if (ignoresSql(endpoint, parameters)) onIgnoredSql(endpoint);
    const resolved = toResolved(endpoint);
    remember(inquiry, resolved);
    return resolved;
  }

  return { recall, resolve: (inquiry) => recall(inquiry) ?? read(inquiry) };
}

function ignoresSql({ parameters: declared }: Endpoint, parameters: RawParameters): boolean {
  return Boolean(parameters[SQL_PARAMETER]) && !declared.some(({ name }) => name === SQL_PARAMETER);
}

/** Returns everything of a request that affects the result. No part can contain a newline. */
function nameOf({ keyId, token }: Caller, url: string, headers: IncomingHttpHeaders): string {
  const { accept = '', 'accept-encoding': encodings = '', 'cache-control': directives = '' } = headers;
  return `${token?.id ?? keyId}\n${accept}\n${encodings}\n${directives}\n${url}`;
}

const ANSWER_TYPES = FORMATS.flatMap(({ mediaTypes }) => mediaTypes);
export const EVENT_STREAM = 'text/event-stream';
const ALL_TYPES = [...ANSWER_TYPES, EVENT_STREAM];

/**
 * Whether a request asks for a live tail instead of an answer. `format` asks for an answer, whatever `Accept` says. So
 * does any other type in `Accept` if the endpoint has no live tail.
 */
export function wantsTail(
  { accepts, endpoint, parameters }: Pick<Inquiry, 'accepts' | 'endpoint' | 'parameters'>,
  hasTail = endpoint.pages !== undefined && hasNewestFirst(endpoint.pages),
): boolean {
  if (findNamedFormat(endpoint, parameters) !== undefined) return false;
  if (accepts.type(ALL_TYPES) !== EVENT_STREAM) return false;
  return hasTail || accepts.type(ANSWER_TYPES) === false;
}

export function chooseEncoding(accepts: Accepts): Encoding {
  return ENCODINGS.find((one) => accepts.encodings([one]) !== false) ?? 'identity';
}

export function readDirectives({ 'cache-control': header }: IncomingHttpHeaders): CacheDirectives {
  return header === undefined ? NO_DIRECTIVES : parseCacheControl(header);
}

/** @throws TailraceError `not_acceptable` */
export function chooseFormat(accepts: Accepts, endpoint: Endpoint): Format {
  const formats = findFormats(endpoint);
  const type = accepts.type(formats.flatMap(({ mediaTypes }) => mediaTypes));
  const format = formats.find(({ mediaTypes }) => mediaTypes.some((one) => one === type));
  if (format !== undefined) return format;
  const offered = formats.map(mediaTypeOf).join(', ');
  throw new TailraceError('not_acceptable', `answers are ${offered}; accept one of these or */*`);
}

// RFC 9110 5.6.2 and 5.6.4: a name, and a value that is a token or a quoted string. Text within quotation marks is not
// a directive.
const DIRECTIVE =
  /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*)))?|"(?:[^"\\]|\\.)*"/g;

/**
 * Parses the `Cache-Control` of a request (RFC 9111 5.2.1), in any letter case and order: `max-age` bounds the age of
 * the answer, `no-cache` asks for a new one, `no-store` for a new one that is not kept, `only-if-cached` for a kept
 * one. Of several `max-age` the lowest counts. Unknown directives and values that are not numbers are ignored.
 *
 * @param header Node joins the lines of a repeated header by commas
 */
export function parseCacheControl(header: string): CacheDirectives {
  let maxAgeSeconds: number | undefined;
  const names = new Set<string>();
  for (const [, name = '', quoted, token] of header.matchAll(DIRECTIVE)) {
    names.add(name.toLowerCase());
    const value = quoted ?? token ?? '';
    if (name.toLowerCase() === 'max-age' && /^\d+$/.test(value))
      maxAgeSeconds = Math.min(maxAgeSeconds ?? Number.POSITIVE_INFINITY, Number(value));
  }
  const noStore = names.has('no-store');
  if (noStore || names.has('no-cache')) maxAgeSeconds = 0;
  return { maxAgeSeconds, noStore, onlyIfCached: names.has('only-if-cached') };
}

/** Content-Encodings of a response, best first. */
const ENCODINGS = ['zstd', 'br', 'gzip', 'identity'] as const;

export type Encoding = (typeof ENCODINGS)[number];

export type Compressed = Exclude<Encoding, 'identity'>;

// The default, 11, takes a hundred times as long for a few percent.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Compresses a whole body. */
export const COMPRESS: Readonly<Record<Compressed, (body: Buffer) => Promise<Buffer>>> = {
  gzip: (body) => promisify(gzip)(body),
  br: (body) => promisify(brotliCompress)(body, BROTLI),
  zstd: (body) => promisify(zstdCompress)(body),
};
