import type { FastifyInstance } from 'fastify';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { isManaged, type Source } from '../../definitions/source.ts';
import type { Caller } from '../../keys/keyring.ts';
import { SCOPES } from '../../keys/scope.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import type { EndpointView, Self, SourceView } from '../view.ts';
import { visibleEndpoints, visibleSources } from '../visible.ts';

export const SELF_PATH = '/api/self';
export const ENDPOINTS_PATH = '/api/endpoints';
export const SOURCES_PATH = '/api/sources';

/** What a key may do, and the definitions that it may know of. */
export function definitionRoutes(app: FastifyInstance, { keyring, registry, version }: HttpContext): void {
  app.get(SELF_PATH, { onRequest: createAuth(keyring, ...SCOPES) }, async (request) =>
    toSelf(getCaller(request), version),
  );
  app.get(ENDPOINTS_PATH, { onRequest: createAuth(keyring, 'query', 'manage') }, async (request) => {
    const caller = getCaller(request);
    const endpoints = visibleEndpoints(registry.endpoints, caller);
    return { result: endpoints.map((endpoint) => toEndpointView(endpoint, caller)) };
  });
  app.get(SOURCES_PATH, { onRequest: createAuth(keyring, 'ingest', 'manage') }, async (request) => {
    return { result: visibleSources(registry.sources, getCaller(request)).map(toSourceView) };
  });
}

function toSelf({ keyId, token, scopes, endpoints, sources, pins }: Caller, version: string): Self {
  return {
    id: keyId,
    token: token !== undefined,
    scopes: [...scopes],
    endpoints: endpoints === undefined ? null : [...endpoints],
    sources: sources === undefined ? null : [...sources],
    pins,
    version,
  };
}

function toEndpointView(endpoint: Endpoint, { scopes, pins }: Caller): EndpointView {
  const { id, name, description, maxRows, cachingSeconds, warmingSeconds, sandboxing } = endpoint;
  return {
    id,
    name,
    description,
    max_rows: maxRows,
    caching_seconds: cachingSeconds ?? null,
    warming_seconds: warmingSeconds ?? null,
    query_sandboxing: sandboxing,
    parameters: endpoint.parameters.map((parameter) => ({
      name: parameter.name,
      type: parameter.type,
      control: parameter.control,
      required: parameter.required,
      description: parameter.description,
      default: parameter.defaultText,
      values: [...parameter.values],
      otherwise: parameter.otherwise ?? null,
      pinned: (Object.hasOwn(pins, parameter.name) ? pins[parameter.name] : undefined) ?? null,
    })),
    columns: endpoint.columns.map((column) => ({ ...column })),
    // It tells of tables, columns and what is left out: the operator's, not the callers'.
    sql: scopes.includes('manage') ? endpoint.sql : null,
  };
}

function toSourceView(source: Source): SourceView {
  const { id, name, table, description, retentionDays, columns } = source;
  return {
    id,
    name,
    table,
    description,
    managed: isManaged(source),
    retention_days: isManaged(source) ? retentionDays : null,
    columns: columns.map((column) => ({ ...column, path: [...column.path] })),
  };
}
