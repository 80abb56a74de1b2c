const PATH_CHARS_MAX = 2_000;
const BASE = 'https://tailrace.invalid';

/**
 * Returns a path of this service to which a browser may be sent; `undefined` for everything else: another origin in any spelling, a
 * control character, and the paths of the sign-in itself.
 */
export function findLocalPath(text: string): string | undefined {
  // Browsers read a backslash as a slash, and drop tabs and line breaks.
  if (text.length > PATH_CHARS_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return undefined;
  if (!URL.canParse(text, BASE)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, BASE);
  // `/.//example.com` has become `//example.com`, which is another host.
  if (origin !== BASE || pathname.startsWith('//') || /^\/auth(?:\/|$)/.test(pathname)) return undefined;
  return `${pathname}${search}${hash}`;
}
