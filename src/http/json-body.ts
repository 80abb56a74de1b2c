import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../errors.ts';
import { malformedJson, withoutMark } from '../ingest/body-format.ts';
import { parseExactJson } from '../lib/json.ts';

/** Chooses the body from what JSON.parse returns, and the same with integers beyond 2^53 as BigInts. */
export type ChooseBody = (body: unknown, exact: unknown) => unknown;

// The bound of all routes but those of events: the time to check a body grows with its values more than with its length,
// and 256 KiB of `[],` are 87,000 faults. Far above what any route reads.
const VALUES_MAX = 5_000;
const TOO_MANY_VALUES = `the body has more than ${VALUES_MAX} values; send less at once`;
// Each begins a value, a member or an item, or comes before one; within texts none does.
const VALUE_SIGN = /[[{,]/;
// The end of the last text may be missing: a look for it would begin again at each quote.
const TEXT = /"(?:[^"\\]|\\.)*"?/gs;
// Integers beyond 2^53 have as many digits. Bounds the time of BigInt, too.
const LONG_INTEGER = /\d{16}/;
const DIGITS_MAX = 400;
const TOO_LONG = new RegExp(`\\d{${DIGITS_MAX}}`);

/**
 * Reads only JSON bodies, not texts. Rejects a body that would take too long to parse and check, and says where one
 * is wrong. Treats an empty one as a missing body: many clients send `Content-Type: application/json` with every
 * request, also with a DELETE without a body, and Fastify's own parser rejects those with 400. Routes that need a
 * body report that it is missing.
 * @param choose for routes that accept integers of 64 bits
 */
export function acceptJson(app: FastifyInstance, choose?: ChooseBody): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, sent, done) => {
    const body = withoutMark(sent).toString();
    if (body === '') return done(null, undefined);
    if (hasTooManyValues(body)) return done(new TailraceError('invalid_request', TOO_MANY_VALUES), undefined);
    const isExact = choose !== undefined && LONG_INTEGER.test(body) && !TOO_LONG.test(body);
    parse(request, body, (error, value) => {
      if (error) done(isJson(body) ? error : malformedJson(body, error), undefined);
      else done(null, isExact ? choose(value, parseExactJson(body)) : value);
    });
  });
}

export function hasTooManyValues(body: string): boolean {
  return body.replaceAll(TEXT, '').split(VALUE_SIGN, VALUES_MAX + 2).length > VALUES_MAX + 1;
}

/** If so, the framework has rejected a member such as `__proto__`. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
