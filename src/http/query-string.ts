/** Parameters of one request in its URL, and as many in its body: many times as many as an endpoint may declare. */
export const PARAMETERS_MAX = 1_000;

type Parameters = Record<string, string | string[]>;

/** Whether a URL has more parameters than are read: an object of fifty thousand names would delay all other requests. */
export function hasTooManyParameters(url: string): boolean {
  let count = 1;
  for (let at = url.indexOf('&'); at !== -1 && count <= PARAMETERS_MAX; at = url.indexOf('&', at + 1))
    count++;
  return count > PARAMETERS_MAX;
}

/**
 * Reads a query string as Fastify's parser does, in a tenth of its time for the longest: Fastify's decodes each escape
 * separately. The router asks before any hook runs, so a URL that is to be rejected there has no parameters here.
 *
 * @returns without a prototype; a list for a name that came more than once
 */
export function parseQueryString(text: string): Parameters {
  const parameters: Parameters = Object.create(null);
  if (hasTooManyParameters(text)) return parameters;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    const before = parameters[name];
    if (before === undefined) parameters[name] = value;
    else if (typeof before === 'string') parameters[name] = [before, value];
    else before.push(value);
  }
  return parameters;
}

/** Decodes escapes; malformed ones stay unchanged. */
function decode(text: string): string {
  const spaced = toSpaces(text);
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

const PLUS = '+'.charCodeAt(0);
const SPACE = ' '.charCodeAt(0);

/** Replaces `+` by a space, bytewise: a replacement of each as text takes ten times as long. */
function toSpaces(text: string): string {
  if (!text.includes('+')) return text;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes.toString();
}
