import type { TSchema } from 'typebox';
import { TEST_FILE } from '../../src/cli/testing/test-file.ts';
import { ALERT_FILE } from '../../src/definitions/alert.ts';
import { DASHBOARD_FILE } from '../../src/definitions/dashboard.ts';
import { ENDPOINT_FILE } from '../../src/definitions/endpoint.ts';
import { SAVED_SEARCH_FILE } from '../../src/definitions/saved-search.ts';
import { EXTERNAL_FILE, MANAGED_FILE } from '../../src/definitions/source-file.ts';
import { expectedOf } from '../../src/lib/schema.ts';

/** A JSON Schema, of draft 7: editors know it best. */
type JsonSchema = Readonly<Record<string, unknown>>;

const ANNOTATIONS = ['expected', 'prefersInner', 'unit'];
/** What the type of a value says, too. */
const PLAIN = ['a string', 'a number', 'true or false', 'a map of fields'];

/** The schema of each kind of file, for editors: unknown, missing and wrong fields. `tailrace check` finds the rest. */
export const FILE_SCHEMAS = {
  endpoint: createSchema('endpoint.yaml of Tailrace', toJsonSchema(ENDPOINT_FILE)),
  source: createSchema('Source of Tailrace', {
    type: 'object',
    // The table of a file with `managed: false` exists already.
    if: { properties: { managed: { const: false } }, required: ['managed'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: toJsonSchema(EXTERNAL_FILE),
    else: toJsonSchema(MANAGED_FILE),
  }),
  alert: createSchema('Alert of Tailrace', toJsonSchema(ALERT_FILE)),
  dashboard: createSchema('Dashboard of Tailrace', toJsonSchema(DASHBOARD_FILE)),
  search: createSchema('Saved search of Tailrace', toJsonSchema(SAVED_SEARCH_FILE)),
  test: createSchema('Tests of an endpoint of Tailrace', toJsonSchema(TEST_FILE)),
} as const satisfies Record<string, JsonSchema>;

function createSchema(title: string, schema: JsonSchema): JsonSchema {
  return { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema };
}

/** Removes the checks' annotations from a schema (lib/schema.ts), and describes each value. */
function toJsonSchema(schema: TSchema): JsonSchema {
  const { description: _, ...whole } = JSON.parse(JSON.stringify(schema, (_key, value) => describe(value)));
  return whole;
}

function describe(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const isOurs = ([name, one]: [string, unknown]) =>
    name === 'gone' || (ANNOTATIONS.includes(name) && typeof one !== 'object'); // no field of such a name
  const schema = Object.fromEntries(Object.entries(value).filter((entry) => !isOurs(entry)));
  const expected = expectedOf(value);
  if (expected === undefined || PLAIN.includes(expected)) return schema;
  return { description: `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`, ...schema };
}
