import type { FastifyInstance } from 'fastify';
import type { HttpContext } from '../context.ts';
import { createAuth } from '../plugins/auth.ts';

/** Prometheus metrics, for keys with the scope `manage`: they name every endpoint and how much each is used. */
export function metricsRoute(app: FastifyInstance, { metrics, keyring }: HttpContext): void {
  app.get('/metrics', { onRequest: createAuth(keyring, 'manage') }, async (_request, reply) => {
    reply.header('content-type', metrics.contentType);
    return await metrics.render();
  });
}
