import type { FastifyInstance } from 'fastify';

import { consoleRoutes, PAGE_PATHS } from './console.ts';
import { definitionRoutes, ENDPOINTS_PATH, SELF_PATH, SOURCES_PATH } from './definitions.ts';

import { DELETION_PATH, DELETIONS_PATH, deletionRoutes } from './deletions.ts';
import { healthRoutes } from './health.ts';
import { INGEST_PATHS, ingestRoutes } from './ingest.ts';
import { KEY_LOG_PATH } from './key-log.ts';
import { KEY_PATH, KEYS_PATH, keyRoutes, ROTATE_PATH } from './keys.ts';
import { metricsRoute } from './metrics.ts';
import { OPENAPI_PATH, openApiRoute } from './openapi.ts';
import { OTLP_PATH, otlpRoute } from './otlp.ts';

import { OVERVIEW_PATH, overviewRoute } from './overview.ts';
import { PROJECTS_PATH, projectsRoute } from './projects.ts';
import { QUERY_PATH, type QueryContext, queryRoute } from './query.ts';

import { TOKENS_PATH, tokenRoute } from './tokens.ts';

/**
 * Every path, who may call it, and by which methods. docs/api.md has the same table.
 *
 * | path | methods | who |
 * | /health, /ready | GET, HEAD | anyone |
 * | /metrics | GET, HEAD | scope manage |
 * | /api/endpoints/query/<uuid|name> | GET, HEAD, POST | scope query |
 * | /api/logs, /logs, /api/events, each also with /json and /vector | POST, OPTIONS | scope ingest |
 * | /v1/logs | POST | scope ingest |
 * | /api/keys | GET, HEAD, POST | scope manage |
 * | /api/keys/<id> | GET, HEAD, PATCH, DELETE | scope manage |
 * | /api/keys/<id>/rotate | POST | scope manage |
 * | /api/keys/log | GET, HEAD | scope manage |
 * | /api/tokens | POST | scope query or manage |
 * | /api/deletions | POST | scope manage |
 * | /api/deletions/<id> | GET, HEAD | scope manage |
 * | /, /endpoints/<uuid|name>, /docs, /assets/<file> | GET, HEAD | anyone: pages, which hold nothing |
 * | /openapi.json | GET, HEAD | anyone; with a key, also its endpoints |
 * | /api/self | GET, HEAD | any key |
 * | /api/endpoints | GET, HEAD | scope query or manage |
 * | /api/sources | GET, HEAD | scope ingest or manage |
 * | /api/projects | GET, HEAD | scope query |
 * | /api/overview | GET, HEAD | scope manage |
 */
export const ALLOWED_METHODS: Readonly<Record<string, readonly string[]>> = {
  '/health': ['GET', 'HEAD'],
  '/ready': ['GET', 'HEAD'],
  '/metrics': ['GET', 'HEAD'],
  [QUERY_PATH]: ['GET', 'HEAD', 'POST'],
  ...Object.fromEntries(INGEST_PATHS.map((path) => [path, ['POST', 'OPTIONS']])),
  [OTLP_PATH]: ['POST'],
  [KEYS_PATH]: ['GET', 'HEAD', 'POST'],
  [KEY_PATH]: ['GET', 'HEAD', 'PATCH', 'DELETE'],
  [ROTATE_PATH]: ['POST'],
  [KEY_LOG_PATH]: ['GET', 'HEAD'],
  [TOKENS_PATH]: ['POST'],
  [DELETIONS_PATH]: ['POST'],
  [DELETION_PATH]: ['GET', 'HEAD'],
  ...Object.fromEntries(
    [...PAGE_PATHS, OPENAPI_PATH, SELF_PATH, ENDPOINTS_PATH, SOURCES_PATH, PROJECTS_PATH, OVERVIEW_PATH].map(
      (path) => [path, ['GET', 'HEAD']],
    ),
  ),
};

export async function registerRoutes(app: FastifyInstance, context: QueryContext): Promise<void> {
  healthRoutes(app, context);
  metricsRoute(app, context);
  keyRoutes(app, context);
  tokenRoute(app, context);
  deletionRoutes(app, context);
  openApiRoute(app, context);
  definitionRoutes(app, context);
  projectsRoute(app, context);
  overviewRoute(app, context);
  // Each in a scope of its own: how a body is read is their own affair.
  await app.register((scope, _options, done) => {
    queryRoute(scope, context);
    done();
  });
  await app.register((scope) => ingestRoutes(scope, context));
  await app.register((scope) => consoleRoutes(scope));
  await app.register((scope) => otlpRoute(scope, context));
}
