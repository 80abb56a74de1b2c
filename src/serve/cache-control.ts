import type { CacheDirectives } from '../cache/store.ts';

// RFC 9110 5.6.2 and 5.6.4: a name, and a value that is a token or a quoted string. Text within quotation marks is no directive.
const DIRECTIVE =
  /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*)))?|"(?:[^"\\]|\\.)*"/g;

/**
 * Parses the `Cache-Control` of a request (RFC 9111 5.2.1), in any letter case and order: `max-age` bounds the age of the answer,
 * `no-cache` asks for one of now, `no-store` for one of now that is not kept, `only-if-cached` for a kept one. Of several
 * `max-age` the lowest counts. Unknown directives and values that are not numbers are ignored.
 *
 * @param header Node joins the lines of a repeated header by commas
 */
export function parseCacheControl(header: string): CacheDirectives {
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
