import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { CacheDirectives } from '../cache/store.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import { TailraceError } from '../errors.ts';
import { FORMATS, type Format, findFormats, findNamedFormat, mediaTypeOf } from '../query/format.ts';
import type { RawParameters } from '../query/parameters.ts';

/** The npm package `accepts`, for one request. */
export interface Accepts {
  type(types: string[]): string | string[] | false;
  encodings(encodings: string[]): string | string[] | false;
}

interface TailQuestion {
  readonly accepts: Accepts;
  readonly endpoint: Endpoint;
  readonly parameters: RawParameters;
}

const NO_DIRECTIVES: CacheDirectives = {};

const ANSWER_TYPES = FORMATS.flatMap(({ mediaTypes }) => mediaTypes);
export const EVENT_STREAM = 'text/event-stream';
const ALL_TYPES = [...ANSWER_TYPES, EVENT_STREAM];

/**
 * Whether a request asks for a live tail instead of an answer. `format` asks for an answer, whatever `Accept` says. So
 * does any other type in `Accept` if the endpoint has no live tail.
 */
export function wantsTail(
  { accepts, endpoint, parameters }: TailQuestion,
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
