export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
  readonly description?: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string }>>;
  readonly content?: Content;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

const METHODS = ['get', 'post', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

type PathItem = { readonly [method in Method]?: Described } & Pick<Described, 'parameters'>;

/** The part of an OpenAPI 3.1 document that is shown. */
export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

export type Operation = NonNullable<ReturnType<typeof toOperation>>;

const ENDPOINT_PATH = '/api/endpoints/query/';
const POST_NOTE =
  'POST takes the parameters as a JSON body, `{"project":"aurora"}`, for values that are too long for a URL.';
const EVENTS_PATH = '/api/logs';
const EVENTS_ALIAS = /^\/(api\/)?(logs|events)(\/(json|vector))?$/;
const EVENTS_NOTE = 'Also at `/logs` and `/api/events`, each also with the suffix `/json` or `/vector`.';

/** Returns operations by tag: of an endpoint its GET, of ways to send events one; descriptions name those like them. */
export function listGroups({ tags, paths }: OpenApi) {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => toOperation(path, method, item) ?? []),
  );
  return tags
    .map((tag) => ({ ...tag, operations: all.filter((operation) => operation.tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0);
}

function toOperation(path: string, method: Method, item: PathItem) {
  const described = item[method];
  const isEndpoint = path.startsWith(ENDPOINT_PATH);
  const isRepeated = isEndpoint ? method !== 'get' : path !== EVENTS_PATH && EVENTS_ALIAS.test(path);
  if (described === undefined || isRepeated) return undefined;
  const note = isEndpoint ? POST_NOTE : path === EVENTS_PATH ? EVENTS_NOTE : '';
  return {
    ...described,
    method: method.toUpperCase() as Uppercase<Method>, // what the type says
    path,
    description: `${described.description}\n\n${note}`.trim(),
    parameters: [...(item.parameters ?? []), ...(described.parameters ?? [])],
  };
}

/** Deeper schemas are left out: none of the service is. */
const DEPTH_MAX = 12;

/** Writes a schema as text: `{ "name": string, "rate"?: number | null }`, one member a line, each with its description. */
export function sketch(schema: Schema, schemas: OpenApi['components']['schemas'], depth = 0): string {
  const write = (inner: Schema | undefined, deeper = 0) =>
    inner === undefined ? 'any' : sketch(inner, schemas, depth + deeper);
  const join = (all: readonly Schema[], by: string) =>
    [...new Set(all.map((inner) => write(inner)))].join(by);
  if (depth > DEPTH_MAX) return '…';
  if (schema.$ref !== undefined) return write(schemas[schema.$ref.replace(/^.*\//, '')]);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.allOf !== undefined) return join(schema.allOf, ' & ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return join(either, ' | ');
  if (schema.items !== undefined) return `[${write(schema.items)}]`;
  if (schema.properties !== undefined) return writeMembers(schema, (inner) => write(inner, 1), depth);
  const { patternProperties, additionalProperties: more } = schema;
  const value = Object.values(patternProperties ?? {})[0] ?? (typeof more === 'object' ? more : undefined);
  if (value !== undefined) return `{ [name]: ${write(value)} }`;
  return [schema.type ?? 'any'].flat().join(' | ');
}

function writeMembers(
  { properties = {}, required = [] }: Schema,
  write: (inner: Schema) => string,
  depth: number,
): string {
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(properties).map(([name, inner]) => {
    const comment = inner.description === undefined ? '' : `  // ${inner.description.replaceAll('\n', ' ')}`;
    const text = write(inner);
    const member = `${indent}"${name}"${required.includes(name) ? '' : '?'}: ${text}`;
    return text.includes('\n') && comment !== ''
      ? `${indent}${comment.trim()}\n${member}`
      : `${member}${comment}`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}
