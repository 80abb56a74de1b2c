import { ERROR_CODES } from '../../errors.ts';
import { FORMATS, type Format, JSON_FORMAT, mediaTypeOf } from '../../query/format.ts';
import { EVENT_STREAM } from '../../serve/negotiate.ts';

/** A JSON Schema (2020-12), which OpenAPI 3.1 includes unchanged. */
export type Schema = Readonly<Record<string, unknown>>;

/** Returns the schema of an object with these members, all required. */
export function object(properties: Readonly<Record<string, unknown>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

export function list(items: unknown): Schema {
  return { type: 'array', items };
}

/** Describes an optional parameter of the query string. */
export function queryParameter(name: string, description: string, schema: Schema = TEXT): Schema {
  return { name, in: 'query', required: false, description, schema };
}

/** Describes a header of a request. */
export function headerParameter(name: string, description: string): Schema {
  return { name, in: 'header', description, schema: TEXT };
}

/** Describes a header of a response. */
export const textHeader = (description: string): Schema => ({ schema: TEXT, description });

const TEXT: Schema = { type: 'string' };

export const NEXT_LINK = textHeader('`rel="next"`: the next page, if there may be one.');

/** Converts a TypeBox schema to plain JSON Schema: without our annotations for error messages (lib/schema.ts). */
export function plain(schema: unknown): Schema {
  const isOurs = (key: string, value: unknown) =>
    /^(?:expected|unit)$/.test(key) && typeof value === 'string';
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (isOurs(key, value) ? undefined : value)),
  ) as Schema;
}

/** Describes the content of a response in every format. @param json the schema of the first of them */
export function contentOf(json: Schema): Record<string, unknown> {
  const toSchema = (format: Format) =>
    format === JSON_FORMAT ? json : { type: 'string', contentMediaType: mediaTypeOf(format) };
  return Object.fromEntries(FORMATS.map((format) => [mediaTypeOf(format), { schema: toSchema(format) }]));
}

/** A response that is a live tail. */
export const EVENTS: Schema = {
  type: 'string',
  contentMediaType: EVENT_STREAM,
  description:
    'A live tail: an event `row` for each new row, its cursor as id; finally an event `end` with a reason.',
};

/** The one shape of every failure (docs/errors.md). */
export const ERROR_SCHEMA = object({
  error: object({
    code: { type: 'string', enum: Object.keys(ERROR_CODES) },
    message: { type: 'string', description: 'A sentence for people; programs read `code`.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    request_id: { type: 'string', description: 'Equals the header `X-Request-Id`.' },
    errors: list({
      type: 'object',
      required: ['parameter', 'message'],
      properties: {
        parameter: { type: 'string' },
        message: { type: 'string' },
        line: { type: 'integer', description: 'Line of a text with several, from 1.' },
        column: { type: 'integer', description: 'Column in that line, from 1.' },
        position: { type: 'integer', description: 'Offset in the value, from 0; only for searches.' },
      },
    }),
  }),
});

const RETRIES = [429, 503];

/** A response for each HTTP status with an error code: `Error400`, `Error401`, … */
export function errorResponses(): Record<string, Schema> {
  // Ascending: an object has its integer keys in that order.
  const byStatus = Object.groupBy(Object.entries(ERROR_CODES), ([, { status }]) => status);
  const responses = Object.entries(byStatus).map(([status, codes = []]) => {
    const description = codes.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join('\n\n');
    return [`Error${status}`, errorResponse(Number(status), description)];
  });
  return Object.fromEntries(responses);
}

function errorResponse(status: number, description: string): Schema {
  const seconds = { schema: { type: 'integer', minimum: 1 }, description: 'Seconds until the next try.' };
  return {
    description,
    ...(RETRIES.includes(status) && { headers: { 'Retry-After': seconds } }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}
