import type { Tool } from '@modelcontextprotocol/server';
import { type Endpoint, type ResultColumn, type ResultType, toToolName } from '../../definitions/endpoint.ts';
import { CURSOR_PARAMETER, hasNewestFirst } from '../../definitions/pages.ts';
import {
  createParameter,
  FORMAT_PARAMETER,
  type Parameter,
  SQL_PARAMETER,
} from '../../definitions/parameter.ts';
import { formatNames } from '../../query/format.ts';
import type { Pins } from '../../query/pins.ts';
import { EVENT_STREAM } from '../../serve/negotiate.ts';
import type { RequestBody, Route } from '../route.ts';
import { ROUTES } from '../routes/index.ts';
import { QUERY_PATH, QUERY_POST } from '../routes/query.ts';
import { routePaths, SECURITY_SCHEMES } from './operation.ts';
import {
  contentOf,
  ERROR_SCHEMA,
  EVENTS,
  errorResponses,
  list,
  NEXT_LINK,
  object,
  queryParameter,
  type Schema,
  textHeader,
} from './schema.ts';

export interface OpenApiOptions {
  readonly version: string;
  /** The endpoints that the reader may know of. */
  readonly endpoints: readonly Endpoint[];
  /** Whether the reader has sent a key; without one there are no endpoints. */
  readonly hasKey?: boolean;
}

/** Creates the OpenAPI 3.1 description of the service: operations for each endpoint and for every other route. */
export function createOpenApi({ version, endpoints, hasKey = true }: OpenApiOptions): Schema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tailrace',
      version,
      description: hasKey ? DESCRIPTION : `${DESCRIPTION}\n\n${WITHOUT_KEY}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths: routePaths([...endpoints.flatMap(endpointRoutes), ...ROUTES]),
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: errorResponses(),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const DESCRIPTION = `Saved analytics queries over log data as HTTP endpoints.

Every endpoint that the reader's key may read has its own path, by its name, and the UUID in its description. Without
a key none is listed.`;

const WITHOUT_KEY =
  '**This document lists no endpoint, because it was requested without a key:** send one in the header `X-API-KEY`.';

const TAGS = [
  { name: 'endpoints', description: 'Saved queries, each with its parameters and columns.' },
  { name: 'events', description: 'Sending events, deleting them.' },
  { name: 'keys', description: 'Keys, tokens and the audit trail.' },
  { name: 'console', description: 'What the console reads: definitions, live numbers, projects.' },
  { name: 'service', description: 'Health, metrics, this document.' },
];

/**
 * Returns GET and POST of an endpoint as routes, by its name. Their description has the UUID, which works instead of the
 * name.
 */
function endpointRoutes(endpoint: Endpoint): Route[] {
  const id = toToolName(endpoint.name);
  const { scopes, errors = [] } = QUERY_POST;
  const shared = {
    ...{ paths: [`${ENDPOINT_PATH}${endpoint.name}`], scopes, errors, tag: 'endpoints' as const },
    summary: firstSentence(endpoint.description),
    description: describe(endpoint),
    answer: { 200: answer(endpoint), 304: NOT_MODIFIED },
  };
  return [
    { ...shared, method: 'GET', id: `get_${id}`, parameters: queryParameters(endpoint) },
    { ...shared, method: 'POST', id: `post_${id}`, body: body(endpoint) },
  ];
}

const ENDPOINT_PATH = QUERY_PATH.replace(':endpoint', '');

function firstSentence(text: string): string {
  return /^.*?(?=\.(?:\s|$))/.exec(text)?.[0] ?? text;
}

function describe(endpoint: Endpoint): string {
  const { id, description, maxRows, cachingSeconds, warmingSeconds, sandboxing, strict } = endpoint;
  const facts = [
    `At most ${maxRows} rows`,
    cachingSeconds === undefined ? 'not cached' : `cached for ${cachingSeconds} seconds`,
    warmingSeconds !== undefined && `refreshed every ${warmingSeconds} seconds`,
    sandboxing && 'accepts the caller’s own SELECT in `sql`',
    strict && 'rejects parameters that are not listed here',
  ];
  const address = `Also at \`${ENDPOINT_PATH}${id}\`, by the UUID, which stays when the name changes.`;
  return `${description}\n\n${facts.filter(Boolean).join(', ')}.\n\n${address}`;
}

const SQL = createParameter(SQL_PARAMETER, {
  type: 'string',
  description: 'Your own SELECT over the views of the query; the answer then has its columns.',
});

/** Describes the parameters of callers: the declared ones, and to an endpoint with sandboxing their SELECT. */
function parametersOf({ parameters, sandboxing }: Endpoint): readonly Parameter[] {
  return sandboxing ? [...parameters, SQL] : parameters;
}

function queryParameters(endpoint: Endpoint): Schema[] {
  const ofService = serviceProperties(endpoint).map(([name, { description, ...schema }]) =>
    queryParameter(name, String(description), schema),
  );
  return [...parametersOf(endpoint).map(declaredParameter), ...ofService];
}

/** Describes the parameters of the service: `cursor` of pages, and `format`, unless the endpoint has its own. */
function serviceProperties(endpoint: Endpoint): [string, Schema][] {
  const names = formatNames(endpoint);
  const format = 'Format of the answer. Without it the header `Accept` decides.';
  const cursor = 'Continues after a page: from its `Link`, or the id of an event.';
  const properties: [string, Schema][] = [];
  if (names.length > 0)
    properties.push([FORMAT_PARAMETER, { type: 'string', enum: names, description: format }]);
  if (endpoint.pages !== undefined)
    properties.push([CURSOR_PARAMETER, { type: 'string', description: cursor }]);
  return properties;
}

function declaredParameter(parameter: Parameter): Schema {
  const { name, required, description } = parameter;
  const value = exampleOf(parameter);
  const example = value === undefined ? {} : { example: value };
  return { ...queryParameter(name, description, parameterSchema(parameter)), required, ...example };
}

function parameterSchema({ schema, required }: Parameter): Schema {
  return { ...schema, ...(required && schema['type'] === 'string' && { minLength: 1 }) };
}

/** Describes a parameter as a member of an object. */
function toProperty(parameter: Parameter, examples: readonly unknown[] = []): [string, Schema] {
  const { name, description } = parameter;
  return [name, { ...parameterSchema(parameter), description, ...(examples.length > 0 && { examples }) }];
}

/**
 * Returns a value that works with the sample logs, if the declaration has one. Of optional parameters only choices have
 * an example: the reference fills examples into its forms, and if both bounds of time were one instant, the answer
 * would be empty.
 */
export function exampleOf({ name, required, values, schema, example, examples }: Parameter): unknown {
  const [declared] = examples;
  if (declared !== undefined) return declared;
  if (name === 'project' && schema['type'] === 'string') return 'aurora';
  return schema['default'] ?? (required || values.length > 0 ? example : undefined);
}

// Without `additionalProperties`: generated types then reject a parameter that is not declared, which the service would
// ignore.
function body(endpoint: Endpoint): RequestBody {
  const parameters = parametersOf(endpoint);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  const properties = [...parameters.map((one) => toProperty(one)), ...serviceProperties(endpoint)];
  const schema = {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  };
  const examples = parameters.flatMap((one) => {
    const value = one.required ? exampleOf(one) : undefined;
    return value === undefined ? [] : [[one.name, value]];
  });
  return {
    required: required.length > 0,
    content: { 'application/json': { schema, example: Object.fromEntries(examples) } },
  };
}

function answer({ columns, maxRows, pages }: Endpoint): Schema {
  const json = object({ result: { ...list(rowSchema(columns)), maxItems: maxRows } });
  return {
    description: 'The rows, columns in their declared order.',
    headers: { ...ANSWER_HEADERS, ...(pages && { Link: NEXT_LINK }) },
    content: {
      ...contentOf(json),
      ...(pages && hasNewestFirst(pages) && { [EVENT_STREAM]: { schema: EVENTS } }),
    },
  };
}

// Null: a value that the event did not have, or had in another type.
const TYPES: Readonly<Record<ResultType, Schema>> = {
  string: { type: ['string', 'null'] },
  integer: { type: ['integer', 'null'], format: 'int64' },
  number: { type: ['number', 'null'], format: 'double' },
  boolean: { type: ['boolean', 'null'] },
  json: {},
};

function rowSchema(columns: readonly ResultColumn[]): Schema {
  return object(
    Object.fromEntries(columns.map(({ name, type, description }) => [name, { ...TYPES[type], description }])),
  );
}

const ANSWER_HEADERS: Schema = {
  'Cache-Status': textHeader(
    'RFC 9211: whether the answer came from the cache, such as `Tailrace; hit; ttl=612`.',
  ),
  Age: { schema: { type: 'integer' }, description: 'Seconds since the instant of the answer’s query.' },
  'Server-Timing': textHeader('`engine;dur=…`: milliseconds in the engine for this request.'),
  ETag: textHeader('Identifies the answer’s bytes in this encoding.'),
  'Content-Disposition': textHeader('File name of a CSV or Parquet answer.'),
  'X-Request-Id': textHeader('The id that you sent, or a new one.'),
  'X-Ignored-Parameters': textHeader('Unknown parameters that were sent, percent-encoded.'),
};

const NOT_MODIFIED: Schema = { description: 'The caller has this answer: its `If-None-Match` named it.' };

/**
 * Describes an endpoint as a tool of the Model Context Protocol.
 * @param pins parameters that are left out: they have one value
 */
export function describeTool(endpoint: Endpoint, pins: Pins): Tool {
  const { name, description, sandboxing } = endpoint;
  const parameters = endpoint.parameters.filter((one) => !Object.hasOwn(pins, one.name));
  const properties = parameters.map((one) => toProperty(one, one.examples));
  return {
    name: toToolName(name),
    title: name,
    description,
    inputSchema: {
      type: 'object',
      properties: { ...Object.fromEntries(properties), ...(sandboxing && { [SQL_PARAMETER]: SQL_ARGUMENT }) },
      required: parameters.filter(({ required }) => required).map((one) => one.name),
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      required: ['result'],
      properties: { result: rowsSchema(endpoint), truncated: TRUNCATED },
    },
    annotations: { readOnlyHint: true },
  };
}

const SQL_ARGUMENT = {
  type: 'string',
  description:
    'A SELECT in ClickHouse SQL over the views of this query; its rows replace those of the query.',
};

const TRUNCATED = {
  type: 'string',
  description: 'Which rows of how many are returned, and how to get fewer. Left out if all are returned.',
};

/** Describes the rows; the columns of a caller's own SELECT are unknown. */
function rowsSchema({ columns, maxRows, sandboxing }: Endpoint): Schema {
  return { ...list(sandboxing ? { type: 'object' } : rowSchema(columns)), maxItems: maxRows };
}
