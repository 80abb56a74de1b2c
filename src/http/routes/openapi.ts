import type { FastifyInstance } from 'fastify';
import type { HttpContext } from '../context.ts';
import { createOpenApi } from '../openapi/document.ts';
import { createOptionalAuth } from '../plugins/auth.ts';
import { visibleEndpoints } from '../visible.ts';

export const OPENAPI_PATH = '/openapi.json';

/** The OpenAPI document. Without a key it tells of no endpoint: which there are is told to accepted keys only. */
export function openApiRoute(app: FastifyInstance, { keyring, registry, version }: HttpContext): void {
  app.get(OPENAPI_PATH, { onRequest: createOptionalAuth(keyring) }, async (request, reply) => {
    const { caller } = request;
    const endpoints = caller === undefined ? [] : visibleEndpoints(registry.endpoints, caller);
    reply.header('cache-control', 'private, no-cache').header('vary', 'X-API-KEY, Authorization');
    return createOpenApi({ version, endpoints });
  });
}
