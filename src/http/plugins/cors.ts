import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Head } from '../../serve/admit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route's own rules for pages of other origins; `false`: no page may read its responses. */
    cors?: FastifyCorsOptions | false;
  }
}

// Headers besides the few that any page may read.
const EXPOSED_HEADERS =
  'age, cache-status, content-disposition, link, ratelimit-limit, ratelimit-remaining, ' +
  'ratelimit-reset, retry-after, server-timing, x-ignored-parameters, x-request-id, x-sampled, ' +
  'x-tailrace-hint';
// The last three are those of clients of `/mcp`.
const ALLOWED_HEADERS =
  'authorization, content-type, last-event-id, x-api-key, x-request-id, mcp-protocol-version, mcp-method, mcp-name';
const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets pages of the listed origins read responses; with an empty list only routes with their own rules do. Must be
 * registered before the routes. Keys are in headers, never in cookies, so no origin needs credentials.
 * @param origins the setting: joined by commas, or `*`
 */
export async function registerCors(app: FastifyInstance, origins: string): Promise<void> {
  app.addHook('onRoute', (route) => {
    // The plugin adds a route for OPTIONS on every path; without rules it responds 404.
    const closed = route.url === '*' || (origins === '' && route.config?.cors === undefined);
    if (closed) route.config = { ...route.config, cors: false };
  });
  await app.register(cors, {
    origin: origins === '*' ? '*' : origins.split(','),
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false, // a plain OPTIONS gets the same response
  });
}

/**
 * Returns the headers that the plugin would add, for a response that is sent ahead of the framework; see listener.ts.
 * @returns `undefined` if no origin is listed
 */
export function createCorsHead(origins: string) {
  if (origins === '') return undefined;
  const exposed = ['access-control-expose-headers', EXPOSED_HEADERS];
  const listed = origins.split(',');
  return (origin: string | undefined): { readonly head: Head; readonly vary: string | undefined } => {
    if (origins === '*') return { head: ['access-control-allow-origin', '*', ...exposed], vary: undefined };
    const isListed = origin !== undefined && listed.includes(origin);
    return { head: isListed ? ['access-control-allow-origin', origin, ...exposed] : exposed, vary: 'Origin' };
  };
}
