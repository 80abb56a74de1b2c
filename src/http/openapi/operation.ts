import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { SCOPES, type Scope } from '../../keys/grant.ts';
import type { Route } from '../route.ts';
import { plain, queryParameter, type Schema } from './schema.ts';

export const SECURITY_SCHEMES: Readonly<Record<string, Schema>> = {
  key: { type: 'apiKey', in: 'header', name: 'X-API-KEY', description: 'A key or a token.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same in `Authorization`.' },
};

/** Creates path → method → operation of the listed routes. */
export function routePaths(routes: readonly Route[]): Record<string, Schema> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes.filter(({ id }) => id !== undefined)) {
    for (const path of route.paths) {
      const shown = path.replaceAll(/:(\w+)/g, '{$1}');
      const item = paths[shown] ?? pathParameters(path);
      paths[shown] = { ...item, [route.method.toLowerCase()]: toOperation(route, path) };
    }
  }
  return paths;
}

/** `parameters` of a path item, left out if the path has none. */
function pathParameters(path: string): Record<string, unknown> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return {
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  };
}

function toOperation(route: Route, path: string): Schema {
  const { id, tag, summary, description = describeKey(route), body, answer = {} } = route;
  const suffix = route.paths.length === 1 ? '' : path.replaceAll('/', '_');
  const parameters = [...queryParameters(route), ...(route.parameters ?? [])];
  return {
    operationId: `${id}${suffix}`,
    summary,
    description,
    tags: [tag],
    security: security(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: body.required, content: body.content } }),
    responses: { ...answer, ...failures(route, path) },
  };
}

function queryParameters({ query }: Route): Schema[] {
  return Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = plain(property);
    return queryParameter(name, String(description), schema);
  });
}

/** Describes what a caller needs, for routes whose summary says the rest. */
function describeKey({ scopes }: Pick<Route, 'scopes'>): string {
  if (scopes === 'none') return 'Needs no key.';
  if (scopes === 'optional') return 'Needs no key; with one, the response has what that key may read.';
  if (scopes === 'any') return 'Needs a key or a session.';
  return `Needs a key with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

/** Lists the keys that a route accepts; each scope is enough. `{}`: no key is needed. */
function security({ scopes }: Pick<Route, 'scopes'>): Schema[] {
  if (scopes === 'none') return [{}];
  if (scopes === 'optional') return [{}, ...keysWith(SCOPES)];
  return keysWith(scopes === 'any' ? SCOPES : scopes);
}

function keysWith(scopes: readonly Scope[]): Schema[] {
  return scopes.flatMap((scope) => Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [scope] })));
}

const KEY_ERRORS: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'method_not_allowed',
  'uri_too_long',
  'rate_limited',
  'internal',
];
const BODY_ERRORS: readonly ErrorCode[] = ['body_too_large', 'unsupported_media_type'];

/** Lists the error responses of a route: those of its key, path, body and handler, and of what it does not read. */
function failures({ scopes, body, errors = [] }: Route, path: string): Record<string, Schema> {
  const codes: readonly ErrorCode[] = [
    ...(scopes === 'none' ? [] : KEY_ERRORS),
    'invalid_request',
    ...(body === undefined ? [] : BODY_ERRORS),
    ...(path.includes(':') ? (['not_found'] as const) : []),
    ...errors,
  ];
  return Object.fromEntries(
    codes.map((code) => {
      const { status } = ERROR_CODES[code];
      return [String(status), { $ref: `#/components/responses/Error${status}` }];
    }),
  );
}
