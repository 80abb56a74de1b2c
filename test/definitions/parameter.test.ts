import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createParameter, type Parameter } from '../../src/definitions/parameter.ts';
import { PARAMETER_TYPES, type ParameterFields } from '../../src/definitions/parameter-type.ts';
import { findParameterValue } from '../../src/query/parameters.ts';

const FIELDS: Readonly<Record<(typeof PARAMETER_TYPES)[number], Partial<ParameterFields>>> = {
  string: {},
  enum: { values: ['hour', 'day'] },
  timestamp: {},
  regex: {},
};

function parameterOf(type: (typeof PARAMETER_TYPES)[number]): Parameter {
  return createParameter('x', { type, description: '', ...FIELDS[type] });
}

const BYTES_MAX = 1_000;

describe.each(PARAMETER_TYPES)('a parameter of type %s', (type) => {
  const parameter = parameterOf(type);

  test('has an example and values that a caller can send', () => {
    for (const text of [parameter.example ?? 'x', ...parameter.values])
      expect(findParameterValue(parameter, text, BYTES_MAX)).toBeDefined();
  });

  test('has one canonical text for a value, which is its own', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(parameter.example ?? 'x')), (text) => {
        const value = findParameterValue(parameter, text, BYTES_MAX);
        if (value !== undefined) expect(findParameterValue(parameter, value, BYTES_MAX)).toBe(value);
      }),
    );
  });
});
