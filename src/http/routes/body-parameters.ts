import { TailraceError } from '../../errors.ts';
import type { RawParameters } from '../../query/parameters.ts';
import { PARAMETERS_MAX } from '../query-string.ts';

/**
 * The parameters of a query string and a JSON body together. One that is in both counts as sent twice.
 *
 * @param body parsed JSON; `undefined` if none was sent
 * @throws TailraceError `invalid_request` if the body is not an object of texts
 */
export function mergeParameters(query: RawParameters, body: unknown): RawParameters {
  if (body === undefined) return query;
  const merged: Record<string, string | readonly string[] | undefined> = { ...query };
  for (const [name, value] of Object.entries(parseBody(body))) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    merged[name] = before === undefined ? value : [before, value].flat();
  }
  return merged;
}

function parseBody(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new TailraceError(
      'invalid_request',
      'the body must be a JSON object of parameters, such as {"project":"aurora"}',
    );
  }
  if (Object.keys(body).length > PARAMETERS_MAX) {
    const message = `the body has more than ${PARAMETERS_MAX} parameters; send those that the endpoint declares`;
    throw new TailraceError('invalid_request', message);
  }
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== 'string') {
      const shown = JSON.stringify(name.slice(0, 100));
      throw new TailraceError(
        'invalid_request',
        `the body's ${shown} must be a text in quotes: every parameter is one`,
      );
    }
    texts[name] = value;
  }
  return texts;
}
