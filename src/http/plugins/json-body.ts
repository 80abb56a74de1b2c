import { Ajv, type ErrorObject } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { type ParameterFault, TailraceError } from '../../errors.ts';

// `expected` is our own annotation, as in the definitions: the end of the sentence "must be …".
const OPTIONS = { allErrors: true, verbose: true, strict: false } as const;

/**
 * A reader of bodies of one shape. Fastify's own would drop unknown members in silence, and with a misspelt `pins` the limits
 * of a key.
 *
 * @returns throws TailraceError `invalid_request` naming every wrong member at once
 */
export function createBodyParser<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const validate = new Ajv(OPTIONS).compile<Static<T>>(schema);
  return (body) => {
    if (validate(body)) return body;
    const faults = new Map((validate.errors ?? []).map((error) => [pathOf(error), describe(error)]));
    throw invalidBody([...faults].map(([parameter, message]) => ({ parameter, message })));
  };
}

/** The error of one or more wrong members of a body. */
export function invalidBody(errors: readonly ParameterFault[]): TailraceError {
  const message = errors.map((error) => `${error.parameter} ${error.message}`).join('; ');
  return new TailraceError('invalid_request', message, { errors });
}

function pathOf({ instancePath, params }: ErrorObject): string {
  const { additionalProperty, missingProperty } = params as Record<string, string | undefined>; // of ajv, by keyword
  const path = [...instancePath.split('/').slice(1), additionalProperty ?? missingProperty ?? ''];
  return path.filter(Boolean).join('.') || 'body';
}

function describe({ keyword, parentSchema, message = 'is wrong' }: ErrorObject): string {
  const parent = (parentSchema ?? {}) as { expected?: string; properties?: object }; // this plugin's callers wrote it
  if (keyword === 'additionalProperties')
    return `is not known; known here: ${Object.keys(parent.properties ?? {}).join(', ')}`;
  if (keyword === 'required') return 'is missing';
  return parent.expected === undefined ? message : `must be ${parent.expected}`;
}
