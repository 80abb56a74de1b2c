import type { TSchema } from 'typebox';
import { ALERT_FILE } from './alert.ts';
import { DASHBOARD_FILE } from './dashboard.ts';
import { ENDPOINT_FILE } from './endpoint.ts';
import { fieldsOfType } from './parameter.ts';
import { LIST_MEMBERS, PARAMETER_TYPES, TYPE_FIELD_NAMES } from './parameter-type.ts';
import { EXTERNAL_FILE, MANAGED_FILE } from './source-file.ts';

/** A JSON Schema, of draft 7: editors know it best. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The schema of endpoint.yaml for editors, with the rules of the checks on types and on fields that exclude each other. */
export function endpointJsonSchema(): JsonSchema {
  return withHead(toJsonSchema(ENDPOINT_FILE, { parameters: parameterRules(), file: ENDPOINT_RULES }), {
    title: 'endpoint.yaml of Tailrace',
  });
}

/** The schema of a file of `sources/` for editors. `managed: false` says that its table exists. */
export function sourceJsonSchema(): JsonSchema {
  return withHead(
    {
      type: 'object',
      if: { properties: { managed: { const: false } }, required: ['managed'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: toJsonSchema(EXTERNAL_FILE),
      else: toJsonSchema(MANAGED_FILE, { columns: COLUMN_RULES }),
    },
    { title: 'Source of Tailrace' },
  );
}

/** The schema of a file of `alerts/` for editors. */
export function alertJsonSchema(): JsonSchema {
  return withHead(toJsonSchema(ALERT_FILE, { file: ALERT_RULES }), { title: 'Alert of Tailrace' });
}

/** The schema of a file of `dashboards/` for editors. */
export function dashboardJsonSchema(): JsonSchema {
  return withHead(toJsonSchema(DASHBOARD_FILE), { title: 'Dashboard of Tailrace' });
}

/** Adds the head to the schema of one kind of file. @param title of the file, for editors */
export function withHead(schema: JsonSchema, { title }: { readonly title: string }): JsonSchema {
  return { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema };
}

/** Rules that a shape cannot state, for the members of a map (by the map's name), or for the whole file. */
type Rules = Readonly<Record<string, JsonSchema>>;

/** Removes the checks' annotations from a schema (shape.ts): `expected` describes a value. */
export function toJsonSchema(schema: TSchema, rules: Rules = {}): JsonSchema {
  const { file = {}, ...ofMaps } = rules;
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key !== '' && isObject(value) ? describe(value) : value,
  );
  const whole: unknown = JSON.parse(text);
  if (!isObject(whole) || !isObject(whole['properties'])) throw new Error('a file is a map of fields');
  const { expected: _, gone: __, properties, ...others } = whole;
  const mapped = Object.entries(properties).map(([name, one]) => [name, addToMembers(one, ofMaps[name])]);
  return { ...others, properties: Object.fromEntries(mapped), ...file };
}

function describe({
  expected,
  prefersInner: _,
  ...schema
}: Record<string, unknown>): Record<string, unknown> {
  if (typeof expected !== 'string') return schema;
  return { description: `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`, ...schema };
}

/** Adds rules to each member of a map. */
function addToMembers(map: unknown, rules: JsonSchema | undefined): unknown {
  if (rules === undefined || !isObject(map) || !isObject(map['patternProperties'])) return map;
  const members = Object.entries(map['patternProperties']).map(([pattern, member]) => [
    pattern,
    { ...(isObject(member) && member), ...rules },
  ]);
  return { ...map, patternProperties: Object.fromEntries(members) };
}

/** src/definitions/checks/settings.ts says the same. */
const ENDPOINT_RULES: JsonSchema = {
  allOf: [
    whenHas({ caching: { const: 'disabled' } }, { properties: { cache_warming: false } }),
    whenHas(
      { sql_dialect: {} },
      { properties: { query_sandboxing: { const: true } }, required: ['query_sandboxing'] },
    ),
  ],
};

/** checkAlert in src/definitions/alert.ts says the same. */
const ALERT_RULES: JsonSchema = {
  allOf: [
    whenHas({ when: { const: 'rows' } }, { properties: { no_data: { enum: ['ok', 'keep'] } } }),
    whenHas(
      { when: { type: 'object' } },
      {
        properties: {
          when: {
            oneOf: [{ required: ['above'] }, { required: ['below'] }, { required: ['equals'] }],
          },
        },
      },
    ),
  ],
};

/** src/definitions/checks/source.ts says the same. */
const COLUMN_RULES: JsonSchema = {
  anyOf: [{ required: ['path'] }, { required: ['column'] }],
  dependencies: { column: ['contains'], contains: ['column'], index: ['otherwise'] },
  allOf: [
    whenHas({ column: {} }, { properties: { path: false, type: { const: 'boolean' } } }),
    whenHas({ otherwise: {} }, { properties: { type: { const: 'string' } } }),
  ],
};

/** Writes the fields of each type of parameter, by the rows of the types: others are rejected, as by readParameter. */
function parameterRules(): JsonSchema {
  const needed: Readonly<Record<string, readonly string[]>> = { enum: ['values'], list: ['of'] };
  const rules = PARAMETER_TYPES.map((type) => {
    const others = TYPE_FIELD_NAMES.filter((field) => !fieldsOfType(type).includes(field));
    return whenHas(
      { type: { const: type } },
      {
        properties: Object.fromEntries(others.map((field) => [field, false])),
        ...(needed[type] && { required: needed[type] }),
      },
    );
  });
  const members = LIST_MEMBERS.filter((type) => needed[type] !== undefined).map((type) =>
    whenHas({ type: { const: 'list' }, of: { const: type } }, { required: needed[type] }),
  );
  const required = whenHas({ required: { const: true } }, { properties: { default: false } });
  return { allOf: [...rules, ...members, required] };
}

function whenHas(properties: JsonSchema, rule: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: { properties, required: Object.keys(properties) }, then: rule };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
