import type { FastifyInstance } from 'fastify';

/**
 * The headers of every answer, made once: they are the same bytes for every request. No answer of the API is a page, so
 * a browser that is made to open one may load and run nothing, nor show it inside another page.
 *
 * @param https whether the service itself speaks TLS: a browser must then not come without it again
 */
export function createSecurityHeaders(https: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    ...(https && { 'strict-transport-security': `max-age=${HSTS_SECONDS}` }),
  };
}

// Half a year. Without includeSubDomains: other services of the domain are not ours to speak for.
const HSTS_SECONDS = 15_552_000;

/**
 * A route may put another value in the place of any of them.
 *
 * Whoever may keep an answer is told so by its route; of all others nobody keeps one. Caches know nothing of `X-API-KEY`: one between
 * the caller and the service could else give an answer for one key to another.
 */
export function registerSecurityHeaders(
  app: FastifyInstance,
  headers: Readonly<Record<string, string>>,
): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers).header('cache-control', 'no-store');
    done();
  });
}
