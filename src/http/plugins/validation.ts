import type { ErrorObject } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest } from '../../errors.ts';
import { compileSchema } from '../../lib/schema-check.ts';

/** The part of a schema that is read here. `expected` is our own annotation, as in the definitions: the end of the sentence "must be …". */
interface ReadSchema {
  readonly expected?: string;
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/**
 * Checks bodies and query strings instead of Fastify's validator, which would silently drop unknown members, and with a
 * misspelt `pins` the limits of a key. Rejects with `invalid_request`, naming every wrong member.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validate = compileSchema(schema);
  return (data) => {
    const value = httpPart === 'querystring' ? parseIntegers(schema, data) : data;
    if (validate(value)) return { value };
    const faults = new Map((validate.errors ?? []).map((error) => [pathOf(error), describe(error)]));
    return { error: invalidRequest([...faults].map(([parameter, message]) => ({ parameter, message }))) };
  };
};

/** Converts the decimal integers of a query string that its schema declares as numbers; any other text stays, and is rejected. */
function parseIntegers({ properties = {} }: ReadSchema, query: Record<string, unknown>) {
  const parsed = { ...query };
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (type === 'integer' && typeof text === 'string' && /^(?:0|[1-9]\d*)$/.test(text))
      parsed[name] = Number(text);
  }
  return parsed;
}

function pathOf({ instancePath, params }: ErrorObject): string {
  const { additionalProperty, missingProperty } = params as Record<string, string | undefined>; // of ajv, by keyword
  const path = [...instancePath.split('/').slice(1), additionalProperty ?? missingProperty ?? ''];
  return path.filter(Boolean).join('.') || 'body';
}

function describe({ keyword, parentSchema, message = 'is wrong' }: ErrorObject): string {
  const parent = (parentSchema ?? {}) as ReadSchema; // the schema of a route
  if (keyword === 'additionalProperties')
    return `is not known; known here: ${Object.keys(parent.properties ?? {}).join(', ')}`;
  if (keyword === 'required') return 'is missing';
  return parent.expected === undefined ? message : `must be ${parent.expected}`;
}
