import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { YAML_OPTIONS } from '../../src/definitions/yaml-file.ts';
import { withCase } from '../../src/workbench/results-file.ts';
import { runs } from '../support/property.ts';

const NOW = '2026-11-20T12:00:00.000Z';

test('whatever a result has is read again as it was, beside the cases before', () => {
  const value = fc.oneof(
    ...[fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null)],
    ...[
      fc.integer(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
      fc.double({ min: -1e15, max: 1e15, noNaN: true }).map((one) => one + 0),
    ],
    fc.array(fc.string()),
  );
  const row = fc.dictionary(fc.string({ minLength: 1 }), value, { maxKeys: 4 });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.string({ unit: 'grapheme' }), (rows, text) => {
      const added = { name: text, now: NOW, parameters: { project: text }, rows };
      const twice = withCase(withCase(undefined, { ...added, name: 'first' }), added);
      const { cases } = parseDocument(twice, { ...YAML_OPTIONS, intAsBigInt: true }).toJS({
        reviver: (_, one: unknown) =>
          typeof one === 'bigint' && Number.isSafeInteger(Number(one)) ? Number(one) : one,
      }) as { cases: unknown };
      expect(cases).toEqual([{ ...added, name: 'first' }, added]);
    }),
    runs(200),
  );
});
