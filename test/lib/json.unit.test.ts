import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonFault } from '../../src/lib/json.ts';
import { isJson } from '../support/json-text.ts';
import { runs } from '../support/property.ts';

test.each([
  ['{"a": x}', 6, 1, 7],
  ['{"a": 1,\n "b": [1, 2,]}', 21, 2, 13],
  ['{"a" 1}', 5, 1, 6],
  ['{"a": "b}', 6, 1, 7],
  ['[}', 1, 1, 2],
])('%j is not JSON from %i on', (text, position, line, column) =>
  expect(findJsonFault(text)).toEqual({ position, line, column }),
);

test('a text has a fault if JSON.parse rejects it', () => {
  const piece = fc.constantFrom(...'{ } [ ] : , "a" 1 - .5 e3 true null " \\u00e9 0'.split(' '), ' ', '\n');
  const pieces = fc.array(piece).map((all) => all.join(''));
  const spoilt = fc.tuple(fc.json(), fc.nat(), piece).map(([json, nat, one]) => {
    const at = nat % (json.length + 1);
    return json.slice(0, at) + one + json.slice(at);
  });
  fc.assert(
    fc.property(fc.oneof(fc.json(), pieces, spoilt), (text) => {
      expect(findJsonFault(text) === undefined, text).toBe(isJson(text));
    }),
    runs(2_000),
  );
});
