// Longer than other files: one table, an entry a route, which is read against the router as a whole.
import { DELETION_PATH, DELETIONS_PATH, NEW_DELETION } from '../routes/deletions.ts';
import { INGEST_PATHS } from '../routes/ingest.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION } from '../routes/key-body.ts';
import { KEY_LOG_PATH } from '../routes/key-log.ts';
import { KEY_PATH, KEY_STATES, KEYS_PATH, ROTATE_PATH } from '../routes/keys.ts';
import { OTLP_PATH } from '../routes/otlp.ts';
import { NEW_TOKEN, TOKENS_PATH } from '../routes/tokens.ts';
import {
  DELETION,
  ENDPOINT,
  KEY,
  KEY_ENTRY,
  MADE_KEY,
  OVERVIEW,
  PROJECTS,
  SELF,
  SOURCE,
  TOKEN,
} from '../view.ts';
import { failures, list, object, plain, type Schema } from './schema.ts';
import { keyWith, NO_KEY } from './security.ts';

/** Every route but the endpoints themselves: path → method → operation. test/http/openapi.test.ts holds it equal to the router. */
export function servicePaths(): Record<string, Schema> {
  return { ...EVENTS, ...DELETIONS, ...KEYS, ...CONSOLE, ...SERVICE };
}

const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
});
const jsonBody = (schema: unknown, example: unknown, required = true): Schema => ({
  required,
  content: { 'application/json': { schema: plain(schema), example } },
});
const query = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'query',
  description,
  schema,
});
const header = (name: string, description: string): Schema => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
});

// Every path that asks for a key may fail so.
const WITH_KEY = [401, 403, 405, 414, 429, 500] as const;
const PAGE = [
  query('limit', 'How many.', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
  query('before', 'Id of the last one seen.', { type: 'string' }),
];
const ID: Schema = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const READY: Schema = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { const: 'ready' },
    storing: { type: 'string', description: 'Why nothing can be stored; left out while it can.' },
    retention: { type: 'string', description: 'Why retention has stopped; left out while it goes on.' },
    clock: { type: 'string', description: 'That the clock is behind; left out while it is not.' },
  },
};

const EVENT: Schema = {
  type: 'object',
  properties: {
    event_message: { type: 'string' },
    timestamp: {
      description: 'ISO 8601, or a number of seconds, milliseconds, microseconds or nanoseconds.',
    },
    metadata: { type: 'object' },
    project: { type: 'string' },
  },
  additionalProperties: true,
};

function eventsOperation(path: string): Schema {
  return {
    operationId: `send_events${path.replaceAll('/', '_')}`,
    summary: 'Send events',
    description: 'One event, a list of them, `{"batch":[…]}`, or NDJSON. Answered when they are on disk.',
    tags: ['events'],
    security: keyWith('ingest'),
    parameters: [
      query('source', 'UUID or name of the source.', { type: 'string' }),
      query('source_name', 'The same.', { type: 'string' }),
      query('api_key', 'The key, for senders that can set no header.', { type: 'string' }),
      header('X-Project', 'Project of events that name none.'),
      header('Idempotency-Key', 'Events that come again under the same one are stored once.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { oneOf: [EVENT, list(EVENT), object({ batch: list(EVENT) })] },
          example: [{ event_message: 'GET /rest/v1/items 200', project: 'aurora', metadata: {} }],
        },
        'application/x-ndjson': { schema: { type: 'string' } },
      },
    },
    responses: {
      '200': json('All events are stored.', object({ message: { const: 'Logged!' } })),
      '406': json(
        'Some events were refused, for these reasons; the good ones are stored.',
        object({ message: list({ type: 'string' }) }),
      ),
      ...failures(400, ...WITH_KEY, 404, 413, 415, 503),
    },
  };
}

const EVENTS: Record<string, Schema> = {
  ...Object.fromEntries(INGEST_PATHS.map((path) => [path, { post: eventsOperation(path) }])),
  [OTLP_PATH]: {
    post: {
      operationId: 'send_otlp_logs',
      summary: 'Send log records by OpenTelemetry’s protocol',
      tags: ['events'],
      security: keyWith('ingest'),
      parameters: [
        header('X-Source', 'Source of the records; without it that of `TAILRACE_OTLP_SOURCE`.'),
        header('X-Project', 'Project of records that name none.'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { type: 'object', properties: { resourceLogs: { type: 'array' } } } },
          'application/x-protobuf': { schema: {} },
        },
      },
      responses: {
        '200': json('The good records are stored.', {
          type: 'object',
          properties: { partialSuccess: { type: 'object' } },
        }),
        ...failures(400, ...WITH_KEY, 404, 413, 415, 503),
      },
    },
  },
};

const keyOperation = (operationId: string, summary: string, rest: Schema): Schema => ({
  operationId,
  summary,
  tags: ['keys'],
  security: keyWith('manage'),
  ...rest,
});

const keyPath = (path: string) => path.replace(':id', '{id}');

const KEYS: Record<string, Schema> = {
  [KEYS_PATH]: {
    get: keyOperation('list_keys', 'List keys, newest first', {
      parameters: [
        ...PAGE,
        query('state', '`active`: neither revoked nor expired; `ended`: the others.', {
          type: 'string',
          enum: KEY_STATES,
          default: 'all',
        }),
      ],
      responses: {
        '200': json('Keys.', object({ result: list(plain(KEY)) })),
        ...failures(400, ...WITH_KEY),
      },
    }),
    post: keyOperation('make_key', 'Make a key', {
      requestBody: jsonBody(NEW_KEY, { name: 'dashboard', scopes: ['query'], pins: { project: 'aurora' } }),
      responses: {
        '201': json('The key, this once.', plain(MADE_KEY)),
        ...failures(400, ...WITH_KEY, 413, 415),
      },
    }),
  },
  [keyPath(KEY_PATH)]: {
    parameters: [ID],
    get: keyOperation('get_key', 'One key', {
      responses: { '200': json('The key.', plain(KEY)), ...failures(...WITH_KEY, 404) },
    }),
    patch: keyOperation('change_key', 'Change a key', {
      requestBody: jsonBody(KEY_CHANGE, { rate: { per_second: 10 } }),
      responses: { '200': json('The key.', plain(KEY)), ...failures(400, ...WITH_KEY, 404, 413, 415) },
    }),
    delete: keyOperation('revoke_key', 'Revoke a key', {
      responses: { '200': json('The key.', plain(KEY)), ...failures(...WITH_KEY, 404) },
    }),
  },
  [keyPath(ROTATE_PATH)]: {
    parameters: [ID],
    post: keyOperation('rotate_key', 'Make a successor of a key', {
      requestBody: jsonBody(ROTATION, { overlap_seconds: 3600 }, false),
      responses: {
        '201': json('The successor, this once.', plain(MADE_KEY)),
        ...failures(400, ...WITH_KEY, 404, 413, 415),
      },
    }),
  },
  [KEY_LOG_PATH]: {
    get: keyOperation('list_key_log', 'The audit trail, newest first', {
      parameters: PAGE,
      responses: {
        '200': json('Entries.', object({ result: list(plain(KEY_ENTRY)) })),
        ...failures(400, ...WITH_KEY),
      },
    }),
  },
  [TOKENS_PATH]: {
    post: {
      ...keyOperation('make_token', 'Make a signed token for a front end', {
        requestBody: jsonBody(NEW_TOKEN, { ttl_seconds: 900, pins: { project: 'aurora' } }, false),
        responses: { '201': json('The token.', plain(TOKEN)), ...failures(400, ...WITH_KEY, 413, 415) },
      }),
      security: keyWith('query', 'manage'),
    },
  },
};

const DELETIONS: Record<string, Schema> = {
  [DELETIONS_PATH]: {
    post: {
      ...keyOperation('delete_events', 'Delete events for good', {
        requestBody: jsonBody(NEW_DELETION, {
          project: 'aurora',
          before: '2026-11-20T07:00:00Z',
          dry_run: true,
        }),
        responses: {
          '200': json('Deleted, or what would be.', plain(DELETION)),
          '202': json('Still being deleted.', plain(DELETION)),
          ...failures(400, ...WITH_KEY, 413, 415, 503),
        },
      }),
      tags: ['events'],
    },
  },
  [keyPath(DELETION_PATH)]: {
    parameters: [ID],
    get: {
      ...keyOperation('get_deletion', 'How far a deletion is', {
        responses: {
          '200': json('Ended.', plain(DELETION)),
          '202': json('Still being deleted.', plain(DELETION)),
          ...failures(...WITH_KEY, 404),
        },
      }),
      tags: ['events'],
    },
  },
};

const consoleOperation = (
  operationId: string,
  summary: string,
  { schema, security }: { schema: Schema; security: readonly Schema[] },
): Schema => ({
  get: {
    operationId,
    summary,
    tags: ['console'],
    security,
    responses: { '200': json('As it is now.', schema), ...failures(...WITH_KEY) },
  },
});

const CONSOLE: Record<string, Schema> = {
  '/api/self': consoleOperation('get_self', 'What the key may do', {
    schema: plain(SELF),
    security: keyWith('query', 'ingest', 'manage'),
  }),
  '/api/endpoints': consoleOperation(
    'list_endpoints',
    'Definitions of the endpoints that the key may know of',
    {
      schema: object({ result: list(plain(ENDPOINT)) }),
      security: keyWith('query', 'manage'),
    },
  ),
  '/api/sources': consoleOperation('list_sources', 'Definitions of the sources that the key may know of', {
    schema: object({ result: list(plain(SOURCE)) }),
    security: keyWith('ingest', 'manage'),
  }),
  '/api/projects': consoleOperation('list_projects', 'Projects that have events and that the key may read', {
    schema: plain(PROJECTS),
    security: keyWith('query'),
  }),
  '/api/overview': consoleOperation('get_overview', 'Live numbers of endpoints, sources, engine and store', {
    schema: plain(OVERVIEW),
    security: keyWith('manage'),
  }),
};

const open = (operationId: string, summary: string, responses: Schema): Schema => ({
  get: { operationId, summary, tags: ['service'], security: NO_KEY, responses },
});

const SERVICE: Record<string, Schema> = {
  '/health': open('get_health', 'Whether the service works', {
    '200': json('It does.', object({ status: { const: 'ok' } })),
    ...failures(503),
  }),
  '/ready': open('get_ready', 'Whether calls are served', {
    '200': json('They are, with what an operator has to see to.', READY),
    ...failures(503),
  }),
  '/metrics': {
    get: {
      operationId: 'get_metrics',
      summary: 'Metrics in Prometheus’ format',
      tags: ['service'],
      security: keyWith('manage'),
      responses: {
        '200': { description: 'Metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...failures(...WITH_KEY),
      },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'get_openapi',
      summary: 'This document, with the endpoints that the key may read',
      tags: ['service'],
      security: [...NO_KEY, ...keyWith('query', 'ingest', 'manage')],
      responses: { '200': json('An OpenAPI 3.1 document.', { type: 'object' }), ...failures(...WITH_KEY) },
    },
  },
};
