import type { FastifyInstance } from 'fastify';
import { parseExactJson } from '../lib/exact-json.ts';

/** Chooses the body from what JSON.parse returns, and the same with integers beyond 2^53 as BigInts. */
export type ChooseBody = (body: unknown, exact: unknown) => unknown;

// Integers beyond 2^53 have as many digits. Bounds the time of BigInt, too.
const LONG_INTEGER = /\d{16}/;
const DIGITS_MAX = 400;
const TOO_LONG = new RegExp(`\\d{${DIGITS_MAX}}`);

/**
 * Reads an empty JSON body as no body at all. Many clients send `Content-Type: application/json` with every request, also with a
 * DELETE without a body, and Fastify's own parser refuses those with 400. Routes that need a body report that it is missing.
 *
 * @param choose for routes that accept integers of 64 bits
 */
export function acceptJson(app: FastifyInstance, choose?: ChooseBody): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    if (choose === undefined || !LONG_INTEGER.test(body) || TOO_LONG.test(body))
      return parse(request, body, done);
    parse(request, body, (error, value) =>
      done(error, error ? undefined : choose(value, parseExactJson(body))),
    );
  });
}
