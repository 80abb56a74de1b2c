import type { Endpoint } from '../../definitions/endpoint.ts';
import { ROUTES } from '../routes/index.ts';
import { endpointPaths } from './endpoint.ts';
import { routePaths, SECURITY_SCHEMES } from './operation.ts';
import { ERROR_SCHEMA, errorResponses, type Schema } from './schema.ts';

export interface OpenApiOptions {
  readonly version: string;
  /** Those that the reader may know of. */
  readonly endpoints: readonly Endpoint[];
  /** URL of the service; `/` if the service itself sends the document. */
  readonly server?: string;
}

/** The OpenAPI 3.1 description of the service: operations for each endpoint and for every other route. */
export function createOpenApi({ version, endpoints, server = '/' }: OpenApiOptions): Schema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tailrace',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    tags: TAGS,
    paths: { ...Object.assign({}, ...endpoints.map(endpointPaths)), ...routePaths(ROUTES) },
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: errorResponses(),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const DESCRIPTION = `Saved analytics queries over log data as HTTP endpoints.

Every endpoint that the reader's key may read has a path of its own, by its name, and the UUID in its description. Without a key none is listed.`;

const TAGS = [
  { name: 'endpoints', description: 'Saved queries, each with its parameters and columns.' },
  { name: 'events', description: 'Sending events, deleting them.' },
  { name: 'keys', description: 'Keys, tokens and the audit trail.' },
  { name: 'console', description: 'What the console reads: definitions, live numbers, projects.' },
  { name: 'service', description: 'Health, metrics, this document.' },
];
