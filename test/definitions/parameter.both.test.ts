import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createParameter, type Parameter, readParameter } from '../../src/definitions/parameter.ts';
import {
  PARAMETER_TYPES,
  type ParameterFields,
  type ParameterTypeName,
} from '../../src/definitions/parameter-type.ts';
import { findParameterValue, parseParameters } from '../../src/query/parameters.ts';
import { createStatement } from '../../src/query/statement.ts';
import { CACHED } from '../support/cached-endpoint.ts';
import { errorOf } from '../support/keys.ts';
import { runs } from '../support/property.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);

type Fields = Partial<ParameterFields>;

const FIELDS: Partial<Readonly<Record<ParameterTypeName, Fields>>> = {
  string: { max_length: 20 },
  enum: { values: ['hour', 'day'] },
  list: { of: 'integer' },
};

const declare = (type: ParameterTypeName, fields: Fields = FIELDS[type] ?? {}): Parameter =>
  createParameter('x', { type, description: '', ...fields });

const BYTES_MAX = 1_000;

type Bound = { readonly type: string; readonly value: unknown };

/** What the engine has for `@x` if a caller sends this. */
async function bind(parameter: Parameter, sent?: string | string[], value = '@x'): Promise<Bound> {
  const columns = ['type', 'value'].map((name) => ({ name, type: 'string', description: '' }) as const);
  const text = `SELECT toTypeName(@x) AS type, ${value} AS value`;
  const endpoint = { ...CACHED, parameters: [parameter], columns, sql: text };
  const values = parseParameters(endpoint, { x: sent }, BYTES_MAX);
  const { sql, format } = createStatement(endpoint);
  const { bytes } = await core.engine.query(sql, values, { format });
  return JSON.parse(bytes.toString());
}

/** Texts that are values of some type, nearly are, or would be SQL. */
const sent = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...["'", "\\'", "1'); DROP TABLE x; --", '1 OR 1=1', '[1', "']", "a','b", '\0', '{x:String}', '@now'],
    ...['9223372036854775808', '-9223372036854775808', '+1', '-0', '007', '0x10', '1e5', '1e999', 'NaN'],
    ...['.5', '5.', 'true', 'TRUE', '1', '0', 'null', ' 1', '1\n', '2026-02-30', '2026-02-28', '0001-01-01'],
    ...['2200-01-01', '7F0C3A52-5F0B-4A57-9B1C-2F6F3F2B9D10', '1,2', '1,,2', ',', '١', 'day', '--', '/*'],
  ),
);

test.each(PARAMETER_TYPES)(
  'a parameter of type %s reaches the engine as the value that was checked, or is rejected, whatever is sent',
  async (type) => {
    const required = declare(type, { ...FIELDS[type], required: true });
    const property = fc.asyncProperty(sent, async (text) => {
      const value = findParameterValue(required, text, BYTES_MAX);
      if (value === undefined || !(await isPattern(required, text))) return;
      const row = await bind(required, text, 'toString(@x)');
      const canonical = type === 'number' ? Number(value) : value;
      expect({ ...row, value: type === 'number' ? Number(row.value) : row.value }).toEqual({
        type: required.sqlType,
        value: canonical,
      });
    });
    await fc.assert(property, runs(60));
  },
);

/** Patterns that RE2 rejects are the engine's to reject. */
async function isPattern(parameter: Parameter, text: string): Promise<boolean> {
  if (!parameter.isPattern) return true;
  return await bind(parameter, text).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'invalid_parameter' });
      return false;
    },
  );
}

test('one text stands for all spellings of a value', () => {
  const same: [ParameterTypeName, string[]][] = [
    ['integer', ['5', '005']],
    ['integer', ['0', '-0']],
    ['number', ['-0', '-0.0', '-0e5']],
    ['boolean', ['true', '1']],
    ['uuid', ['7F0C3A52-5F0B-4A57-9B1C-2F6F3F2B9D10', '7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10']],
    ['list', ['1,2', '1,02']],
    ['timestamp', ['2026-11-20T07:00:00Z', '2026-11-20T08:00:00+01:00']],
  ];
  for (const [type, texts] of same) {
    const values = texts.map((text) => findParameterValue(declare(type), text, BYTES_MAX));
    expect([type, new Set(values).size, values.includes(undefined)]).toEqual([type, 1, false]);
  }
});

test.each<[ParameterTypeName, Fields, string | string[] | undefined, unknown]>([
  ['integer', {}, '9223372036854775807', { type: 'Nullable(Int64)', value: '9223372036854775807' }],
  ['integer', { default: 7 }, '', { type: 'Int64', value: 7 }],
  ['number', {}, '-1.5e3', { type: 'Nullable(Float64)', value: -1500 }],
  ['boolean', { default: false }, '1', { type: 'Bool', value: true }],
  ['list', { of: 'integer' }, ['1', '2'], { type: 'Array(Int64)', value: [1, 2] }],
  ['list', { of: 'string' }, ["it's", 'a,b', '\0'], { type: 'Array(String)', value: ["it's", 'a,b', '\0'] }],
])('%s with %j, sent %j, is %j in the SQL', async (type, fields, given, result) => {
  const row = await bind(declare(type, fields), given);
  if (typeof row.value === 'number' && !Number.isSafeInteger(row.value) && Number.isInteger(row.value))
    expect({ ...row, value: String(given) }).toEqual(result);
  else expect(row).toEqual(result);
});

test.each<[ParameterTypeName, Fields, string | string[], string]>([
  ['integer', { min: 100, max: 599 }, 'abc', 'x must be a whole number, such as 100, not "abc"'],
  ['integer', { min: 100, max: 599 }, '600', 'x must be from 100 to 599, not "600"'],
  ['enum', { values: ['a', 'b'] }, 'c'.repeat(70), `x must be one of a, b, not "${'c'.repeat(60)}…"`],
  ['string', { max_length: 2 }, '日本語', 'x must have at most 2 characters, and has 3'],
  ['string', { pattern: '^[a-z]+$' }, 'ABC', 'x must match ^[a-z]+$, not "ABC"'],
  ['list', { of: 'string', pattern: '^\\w+$' }, 'a,b c', 'x has "b c", which must match ^\\w+$'],
  ['string', {}, ['a', 'b'], 'x was sent 2 times; send it once'],
])('%s with %j rejects %j: %s', (type, fields, given, message) => {
  const endpoint = { ...CACHED, parameters: [declare(type, fields)] };
  expect(errorOf(() => parseParameters(endpoint, { x: given }, BYTES_MAX)).message).toBe(message);
});

test.each<[Fields & { type: ParameterTypeName }, string[]]>([
  [{ type: 'string', min: 5 }, ['min needs type integer or number or list, not string']],
  [{ type: 'integer', max: 4, default: 5 }, ['default must be from -9223372036854775808 to 4, not 5']],
  [{ type: 'integer', default: 2 ** 60 }, [expect.stringContaining('default must be a whole number')]],
  [{ type: 'list' }, [expect.stringContaining('of is missing: a list has items of one type: string, enum')]],
  [{ type: 'string', pattern: '[' }, [expect.stringMatching(/^pattern is not a pattern of RE2: .*\[/)]],
  [{ type: 'string', pattern: `${'a'.repeat(5_000)}+` }, [expect.stringContaining('at most 4096 bytes')]],
])('the declaration %j is rejected: %j', (fields, messages) => {
  const faults: string[] = [];
  readParameter('x', { description: '', ...fields }, (field, message) => faults.push(`${field} ${message}`));
  expect(faults).toEqual(messages);
});

test('a pattern is in the schema if JavaScript reads it, too, and is matched in a bounded time', () => {
  expect(findParameterValue(declare('string', { pattern: '(?i)^\\pL+$' }), 'É', BYTES_MAX)).toBe('É');
  const schema = { type: 'string', maxLength: 1000 };
  expect(declare('string', { pattern: '^a+$' }).schema).toEqual({ ...schema, pattern: '^a+$' });
  for (const pattern of ['(?i)a', '\\A', '[[:alpha:]]', '\\pL'])
    expect(declare('string', { pattern }).schema).toEqual(schema);
  const long = declare('string', { pattern: '.' });
  expect(() => long.parse('x'.repeat(1_001))).toThrow('must have at most 1000 characters, and has 1001');
  // Hours in a matcher that goes back.
  const parameter = declare('string', { pattern: '^(a+)+$' });
  expect(findParameterValue(parameter, `${'a'.repeat(999)}b`, BYTES_MAX)).toBeUndefined();
});
