import fc from 'fast-check';

// Spellings that parsing and writing again would not give back.
const NUMBERS = [
  ...['0', '-0', '1.0', '1e400', '1E+2', '0.1e-7', '9007199254740993', '123456789012345678901234567890'],
];
const STRINGS = [
  '""',
  '"a"',
  String.raw`"\u0000"`,
  String.raw`"\ud800"`, // half a surrogate pair
  String.raw`"\udc00\ud800"`,
  String.raw`"\ud83d\ude00 \u00e9 \/ \" \\ \b\f\n\r\t"`,
  '"😀 é \u2028 \u2029 \u007f \ufeff / \u{10ffff}"',
  `"'; DROP TABLE edge_logs; -- @now \\\\"`,
  '"}],{:"',
];
const NAMES = [
  ...['"a"', '"10"', '"2"', '"-1"', '"a.b"', '""', '"__proto__"', '"metadata"', '"é"'],
  String.raw`"\u0062"`,
];

const space = fc.constantFrom('', '', '', ' ', '\t', '  ');

/** JSON text with white space between its tokens, in spellings of every kind: names in any order, empty, dotted. */
export const rawJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    fc.constantFrom(...NUMBERS),
    fc.constantFrom(...STRINGS),
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text)),
    fc
      .tuple(space, fc.array(padded(tie('value')), { maxLength: 4 }))
      .map(([pad, items]) => `[${pad}${items.join(',')}]`),
    fc
      .tuple(
        space,
        fc.uniqueArray(fc.tuple(padded(fc.constantFrom(...NAMES)), padded(tie('value'))), {
          maxLength: 5,
          selector: ([name]) => name.trim(),
        }),
      )
      .map(([pad, members]) => `{${pad}${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  ),
})).value;

function padded(token: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space, token, space).map((parts) => parts.join(''));
}
