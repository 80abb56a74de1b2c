import fc from 'fast-check';
import { pattern as commonPattern } from '../../endpoints/generate/pattern.ts';

const atom = fc.constantFrom(
  ...[
    'a',
    'ab',
    'abc',
    'ABC',
    'aurora',
    'AURORA',
    'caf',
    'é',
    'É',
    '😀',
    'k',
    's',
    'x',
    '-1',
    '.',
    '^',
    '$',
    '/',
    ' ',
  ],
  ...[
    '\\.',
    '\\\\',
    '\\|',
    '\\d',
    '\\w',
    '\\b',
    '\\S',
    '\\x61',
    '\\x{e9}',
    '\\141',
    '\\pL',
    '\\Qab\\E',
    '\\Q\\E',
    '\\A',
    '\\z',
    '\\t',
  ],
  ...[
    '[a-c]',
    '[^a]',
    '[Aa]',
    '[é]',
    '[[]',
    '[]a]',
    '[^]a]',
    '[[:alpha:]]',
    '[\\w.]',
    '[a\\]]',
    '{',
    'a{x}',
    '\n',
    '\0',
  ],
  ...[
    '(?i)',
    '(?s)',
    '(?m)',
    '(?U)',
    '(?-i)',
    '(?i-s)',
    '()',
    '(?:)',
    '(?i)(AURORA|BASALT)',
    '(?i:A|B)',
    'aurora',
    'basalt',
  ],
);
const times = fc.constantFrom('', '', '', '', '*', '+', '?', '{0}', '{2}', '{0,2}', '{1,}', '*?', '??');
const opening = fc.constantFrom('(', '(', '(?:', '(?i:', '(?s:', '(?-i:', '(?i-s:', '(?P<name>');
const flaggedPattern = fc.letrec<{ sequence: string; item: string }>((tie) => ({
  sequence: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
  item: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        atom,
        fc
          .tuple(opening, fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }))
          .map(([open, branches]) => `${open}${branches.join('|')})`),
      ),
      times,
    )
    .map((parts) => parts.join('')),
})).sequence;
/** Patterns of RE2, most of which are right, with flags anywhere. */
export const anyPattern = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom('', '', '^', '(?i)'), flaggedPattern).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: commonPattern },
);
export const likePattern = fc
  .array(
    fc.constantFrom(
      '%',
      '_',
      'a',
      'aur',
      'ora',
      'abc',
      'Aurora',
      '\\',
      '\\\\',
      '\\%',
      '\\_',
      '\\u',
      'é',
      '.',
      '[',
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));
