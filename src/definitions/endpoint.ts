import { type Static, Type } from 'typebox';
import { formatInstant, parseInstant } from '../lib/instant.ts';
import { findParameters } from '../sql/parameter.ts';
import { type Bucket, createBucket } from './bucket.ts';
import { createShapeCheck } from './shape.ts';
import type { Source } from './source.ts';
import { UUID_TEXT } from './source-file.ts';
import type { YamlFile } from './yaml-file.ts';

export type ParameterType = 'string' | 'enum' | 'timestamp' | 'regex';

/** A declared query parameter. Its value reaches the SQL as a String, whatever its type. */
export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly required: boolean;
  readonly description: string;
  /** The value of a caller that sends none or an empty one. */
  readonly fallback: string;
  /** `enum`: the allowed values. */
  readonly values: readonly string[];
  /** `enum`: what any other value behaves as; without it any other value is refused. */
  readonly otherwise: string | undefined;
}

export type ResultType = 'string' | 'integer' | 'number' | 'boolean' | 'json';

/** A column of the answer. `json` holds JSON text, which goes into the answer as the value it spells. */
export interface ResultColumn {
  readonly name: string;
  readonly type: ResultType;
  readonly description: string;
}

/** A saved query as the service runs it (spec 2.1). */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly maxRows: number;
  /** Seconds an answer may be served from the cache; `undefined` where caching is disabled. */
  readonly cachingSeconds: number | undefined;
  /** Seconds between refreshes of an answer that is being asked for; `undefined` where it is not kept warm. */
  readonly warmingSeconds: number | undefined;
  readonly sandboxing: boolean;
  /** How the rows stand for buckets of time; `undefined` where an answer can only be made as a whole. */
  readonly bucket: Bucket | undefined;
  readonly parameters: readonly Parameter[];
  /** Names of the parameters whose pin the SQL reads as `@pinned_<name>`. */
  readonly pinned: readonly string[];
  readonly columns: readonly ResultColumn[];
  readonly sql: string;
  /** Of its two files. */
  readonly fileHash: string;
  /** Of everything that shapes an answer, the sources among it; part of the cache key. */
  readonly hash: string;
  readonly file: string;
  readonly sqlFile: string;
}

/**
 * `@pinned_project` is bound by the service: the value that the caller's key pins `project` to, empty where it does not. It
 * lets SQL that matches loosely by a parameter keep to the rows of a pinned key.
 */
export const PINNED_PREFIX = 'pinned_';

const SECONDS_MAX = 7 * 86_400;
const ROWS_MAX = 1_000_000;
const seconds = { minimum: 1, maximum: SECONDS_MAX };

// `__proto__` cannot be the name of a member of a plain object, which values are kept in.
const PARAMETER_NAME = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$';
const TEXT = Type.String({ expected: 'a text; put it in quotes' });

// A century: no source keeps its events for longer.
const RANGE_SECONDS_MAX = 36_500 * 86_400;
const BUCKET_SECONDS = Type.Integer({
  minimum: 1,
  maximum: RANGE_SECONDS_MAX,
  expected: `a whole number of seconds from 1 to ${RANGE_SECONDS_MAX}`,
});
const BUCKET_SPANS = Type.Union([BUCKET_SECONDS, Type.Record(Type.String(), BUCKET_SECONDS)], {
  expected: `a whole number of seconds from 1 to ${RANGE_SECONDS_MAX}, or a map with one for each value of "by"`,
});

const ENDPOINT_FILE = Type.Object(
  {
    id: UUID_TEXT,
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9_-]+)*$',
      maxLength: 100,
      expected: 'words of small letters, digits, - and _, joined by dots, such as logs.all',
    }),
    description: Type.String({ expected: 'a text' }),
    max_rows: Type.Integer({
      minimum: 1,
      maximum: ROWS_MAX,
      expected: `a whole number from 1 to ${ROWS_MAX}`,
    }),
    caching: Type.Union([Type.Integer(seconds), Type.Literal('disabled')], {
      expected: `a whole number of seconds from 1 to ${SECONDS_MAX}, or "disabled"`,
    }),
    cache_warming: Type.Optional(
      Type.Integer({ ...seconds, expected: `a whole number of seconds from 1 to ${SECONDS_MAX}` }),
    ),
    query_sandboxing: Type.Optional(Type.Boolean({ expected: 'true or false' })),
    bucket: Type.Optional(
      Type.Object(
        {
          column: TEXT,
          by: Type.Optional(TEXT),
          width: BUCKET_SPANS,
          range: BUCKET_SPANS,
          aligned: Type.Optional(Type.Boolean({ expected: 'true or false' })),
          lateness: Type.Optional(BUCKET_SECONDS),
        },
        { additionalProperties: false, expected: 'a map of fields' },
      ),
    ),
    parameters: Type.Optional(
      Type.Record(
        Type.String({ pattern: PARAMETER_NAME }),
        Type.Object(
          {
            type: Type.Enum(['string', 'enum', 'timestamp', 'regex'], {
              expected: 'one of string, enum, timestamp, regex',
            }),
            required: Type.Optional(Type.Boolean({ expected: 'true or false' })),
            description: Type.String({ expected: 'a text' }),
            default: Type.Optional(TEXT),
            values: Type.Optional(
              Type.Array(TEXT, { minItems: 1, maxItems: 1000, expected: 'a list of texts' }),
            ),
            otherwise: Type.Optional(TEXT),
          },
          { additionalProperties: false, expected: 'a map of fields' },
        ),
        { additionalProperties: false, expected: 'a parameter name of letters, digits and underscores' },
      ),
    ),
    columns: Type.Record(
      Type.String({ pattern: PARAMETER_NAME }),
      Type.Object(
        {
          type: Type.Enum(['string', 'integer', 'number', 'boolean', 'json'], {
            expected: 'one of string, integer, number, boolean, json',
          }),
          description: Type.String({ expected: 'a text' }),
        },
        { additionalProperties: false, expected: 'a map of fields' },
      ),
      {
        additionalProperties: false,
        minProperties: 1,
        expected: 'a column name of letters, digits and underscores',
      },
    ),
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

export type EndpointFile = Static<typeof ENDPOINT_FILE>;

/** Faults of shape: unknown, missing or wrong fields. */
export const checkEndpointShape = createShapeCheck(ENDPOINT_FILE);

/** The fields of a file of good shape. */
export function endpointFields(file: YamlFile): EndpointFile {
  return file.value as EndpointFile; // proven by checkEndpointShape, which readDefinitions runs first
}

/** What of an endpoint stands outside of its YAML file. */
export interface EndpointParts {
  readonly sql: { readonly file: string; readonly text: string };
  readonly fileHash: string;
  readonly hash: string;
  readonly sources: readonly Source[];
}

/** The endpoint that a checked pair of files defines. */
export function createEndpoint(file: YamlFile, { sql, fileHash, hash, sources }: EndpointParts): Endpoint {
  const value = endpointFields(file);
  const used = new Set(findParameters(sql.text).map((use) => use.name));
  const names = Object.keys(value.parameters ?? {});
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    description: value.description,
    maxRows: value.max_rows,
    cachingSeconds: value.caching === 'disabled' ? undefined : value.caching,
    warmingSeconds: value.cache_warming,
    sandboxing: value.query_sandboxing ?? false,
    bucket: value.bucket && createBucket(value.bucket, sql.text, sources),
    parameters: Object.entries(value.parameters ?? {}).map(([name, parameter]) => ({
      name,
      type: parameter.type,
      required: parameter.required ?? false,
      description: parameter.description,
      fallback: fallbackOf(parameter),
      values: parameter.values ?? [],
      otherwise: parameter.otherwise,
    })),
    pinned: names.filter((name) => used.has(PINNED_PREFIX + name)),
    columns: Object.entries(value.columns).map(([name, column]) => ({ name, ...column })),
    sql: sql.text,
    fileHash,
    hash,
    file: file.file,
    sqlFile: sql.file,
  };
}

/** A timestamp reaches the SQL in one form only, also where it is the default. */
function fallbackOf({ type, default: given = '' }: NonNullable<EndpointFile['parameters']>[string]): string {
  const micros = type === 'timestamp' ? parseInstant(given) : undefined;
  return micros === undefined ? given : formatInstant(micros);
}
