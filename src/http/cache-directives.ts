import type { IncomingHttpHeaders } from 'node:http';
import type { CallerOptions } from '../cache/query-flights.ts';

/** What a request asks of the cache. */
export type CacheDirectives = Pick<CallerOptions, 'maxAgeSeconds' | 'noStore' | 'onlyIfCached'>;

const NONE: CacheDirectives = {};

// RFC 9110 5.6.2 and 5.6.4: a name, and a value that is a token or a quoted string. What is between quotation marks is no
// directive, whatever it spells.
const DIRECTIVE =
  /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*)))?|"(?:[^"\\]|\\.)*"/g;

/**
 * Reads the `Cache-Control` of a request (RFC 9111 5.2.1), in any letter case and order: `max-age` bounds the age of the answer,
 * `no-cache` asks for one of now, `no-store` for one of now that is kept nowhere, `only-if-cached` for a kept one. Of several
 * `max-age` the lowest counts. Directives that we do not know, and values that are no number, are passed over.
 *
 * Node joins the lines of a repeated header by commas.
 */
export function readCacheDirectives(headers: IncomingHttpHeaders): CacheDirectives {
  const header = headers['cache-control'];
  if (header === undefined) return NONE;
  let maxAgeSeconds = Number.POSITIVE_INFINITY;
  const names = new Set<string>();
  for (const [, name = '', quoted, token] of header.matchAll(DIRECTIVE)) {
    names.add(name.toLowerCase());
    const value = quoted ?? token ?? '';
    if (name.toLowerCase() === 'max-age' && /^\d+$/.test(value))
      maxAgeSeconds = Math.min(maxAgeSeconds, Number(value));
  }
  const noStore = names.has('no-store');
  if (noStore || names.has('no-cache')) maxAgeSeconds = 0;
  return {
    maxAgeSeconds: maxAgeSeconds === Number.POSITIVE_INFINITY ? undefined : maxAgeSeconds,
    noStore,
    onlyIfCached: names.has('only-if-cached'),
  };
}
