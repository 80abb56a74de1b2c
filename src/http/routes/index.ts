import type { FastifyInstance } from 'fastify';
import type { HttpContext } from '../context.ts';
import { healthRoutes } from './health.ts';
import { metricsRoute } from './metrics.ts';
import { QUERY_PATH, queryRoute } from './query.ts';

/**
 * Every path, who may call it, and by which methods. docs/api.md has the same table.
 *
 * | path | methods | who |
 * | /health, /ready | GET, HEAD | anyone |
 * | /metrics | GET, HEAD | scope manage |
 * | /api/endpoints/query/<uuid|name> | GET, HEAD | scope query |
 */
export const ALLOWED_METHODS: Readonly<Record<string, readonly string[]>> = {
  '/health': ['GET', 'HEAD'],
  '/ready': ['GET', 'HEAD'],
  '/metrics': ['GET', 'HEAD'],
  [QUERY_PATH]: ['GET', 'HEAD'],
};

export function registerRoutes(app: FastifyInstance, context: HttpContext): void {
  healthRoutes(app, context);
  metricsRoute(app, context);
  queryRoute(app, context);
}
