import type { FastifyInstance } from 'fastify';

/**
 * The headers of every response, created once. No response of the API is a page, so a browser that opens one may neither load
 * nor run anything, nor show it inside another page.
 *
 * @param https whether the service itself speaks TLS: browsers must then never connect without it
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

// Half a year. Without includeSubDomains, which would decide for other services of the domain.
const HSTS_SECONDS = 15_552_000;

/**
 * Sets the headers before a route runs, which may replace any of them. Responses are `no-store` unless their route says
 * otherwise: a cache between caller and service ignores `X-API-KEY`, and could give one key the response for another.
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
