import fc from 'fast-check';

const PIECES = [
  ...String.raw`.. . / // \ # " ' | > *a << %2e%2e%2f ..%2f %00 %5c ．．／ ‥ ∕ ⁄ ~ $HOME - * ? a zzz`.split(
    ' ',
  ),
  ...'logs.all test.stored endpoint.yaml .git link dangling inner null true 1e5 0x1f'.split(' '),
  ...'etc/passwd /etc/passwd /proc/self/cwd C: file:/// A É __proto__ con'.split(' '),
  ...['\0', '\n', '\r\n', '\u2028', '\u202e', '\ud800', ' ', ' #', ': ', '&a ', '`id`', 'x'.repeat(99)],
];

/** Names that try to lead out of a folder, to be another name once they are written down, or to be no name. */
export const hostileName: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join('')),
  fc
    .array(fc.constantFrom('..', '.', 'link', 'inner', 'dangling', 'a', ''), { minLength: 1, maxLength: 6 })
    .map((names) => names.join('/')),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
