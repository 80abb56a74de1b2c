import type { Endpoint } from '../../definitions/endpoint.ts';
import { endpointPaths } from './endpoint.ts';
import { servicePaths } from './routes.ts';
import { ERROR_SCHEMA, errorResponses, type Schema } from './schema.ts';
import { SECURITY_SCHEMES } from './security.ts';

export interface OpenApiOptions {
  readonly version: string;
  /** Only these are described: whoever asks may know of them. */
  readonly endpoints: readonly Endpoint[];
  /** Where the service is reached; `/` for whoever reads the document from the service itself. */
  readonly server?: string;
}

/** The OpenAPI 3.1 description of the service: each endpoint an operation of its own, and every route beside them. */
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
    paths: { ...Object.assign({}, ...endpoints.map(endpointPaths)), ...servicePaths() },
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
