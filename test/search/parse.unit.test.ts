import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { EVERYTHING, parseSearch, type SearchTree } from '../../src/search/parse.ts';
import { isQuotedValue, printSearch } from '../../trial/oracle/print-search.ts';
import { errorOf } from '../support/keys.ts';
import { runs } from '../support/property.ts';

const CLAUSES_MAX = 128;
const parse = (text: string) => parseSearch(text, CLAUSES_MAX);

/** The tree without positions, which change with the spelling. */
function bare(tree: SearchTree): unknown {
  return JSON.parse(JSON.stringify(tree, (name, value) => (name === 'position' ? undefined : value)));
}

const SIGNS = [...'- "\\*:()<>=\'\0é𝄞%_\n'];
const WORD = fc.constantFrom('error', 'AND', 'or', 'not', '', 'a.b', '500', '//', 'status', ...SIGNS);
const TEXT = fc.array(WORD, { maxLength: 4 }).map((words) => words.join(''));
const FIELD = fc
  .tuple(TEXT, fc.array(TEXT, { maxLength: 2 }))
  .map(([first, rest]) => [first, ...rest] as const);
const OPERATOR = fc.constantFrom('=' as const, '>=' as const, '<=' as const, '>' as const, '<' as const);

const { tree: TREE } = fc.letrec<{ tree: SearchTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    TEXT.map((text) => ({ kind: 'text', value: [text] }) as const),
    FIELD.map(([first, ...rest]) => ({ kind: 'exists', field: [first, ...rest], position: 0 }) as const),
    fc
      .record({
        kind: fc.constant('compare' as const),
        field: FIELD.map(([first, ...rest]) => [first, ...rest] as const),
        operator: OPERATOR,
        value: TEXT.map((text) => [text] as const),
        isQuoted: fc.boolean(),
        position: fc.constant(0),
      })
      .map((clause) => ({ ...clause, isQuoted: isQuotedValue(clause.value, clause.isQuoted) })),
    fc.record({ kind: fc.constant('not' as const), item: tie('tree') }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      items: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

test('a printed search parses to the same tree', () => {
  fc.assert(
    fc.property(TREE, (tree) => {
      expect(bare(parseSearch(printSearch(tree), 10_000))).toEqual(bare(tree));
    }),
    runs(500),
  );
});

const GARBAGE = fc.oneof(
  fc.string(),
  fc.array(fc.oneof(WORD, TEXT), { maxLength: 60 }).map((all) => all.join('')),
);

test('any text is a search or a fault with its position, and what is a search is printed as one', () => {
  fc.assert(
    fc.property(GARBAGE, (text) => {
      try {
        const tree = parse(text);
        if (tree !== EVERYTHING) expect(bare(parse(printSearch(tree)))).toEqual(bare(tree));
      } catch (error) {
        if (!(error instanceof TailraceError)) throw error;
        const [fault] = error.errors;
        expect(error.code).toBe('invalid_parameter');
        expect(fault?.parameter).toBe('q');
        expect(fault?.position).toBeGreaterThanOrEqual(0);
        expect(fault?.position).toBeLessThanOrEqual(text.length);
      }
    }),
    runs(2_000),
  );
});

describe('reads', () => {
  test.each([
    ['', { kind: 'and', items: [] }],
    ['timeout', { kind: 'text', value: ['timeout'] }],
    ['"two words"', { kind: 'text', value: ['two words'] }],
    ['"a \\"b\\" C:\\temp"', { kind: 'text', value: ['a "b" C:\\temp'] }],
    ['conn*refused', { kind: 'text', value: ['conn', 'refused'] }],
    ['status:>=500', { kind: 'compare', field: ['status'], operator: '>=', value: ['500'], isQuoted: false }],
    [
      'a.b:/rest/*',
      { kind: 'compare', field: ['a', 'b'], operator: '=', value: ['/rest/', ''], isQuoted: false },
    ],
    [
      'a."b.c":"x:*"',
      { kind: 'compare', field: ['a', 'b.c'], operator: '=', value: ['x:*'], isQuoted: true },
    ],
    ['user:*', { kind: 'exists', field: ['user'] }],
    ['-error', { kind: 'not', item: { kind: 'text', value: ['error'] } }],
  ])('%j', (text, tree) => {
    expect(bare(parse(text))).toEqual(tree);
  });

  test('and before or, parentheses first, and terms side by side as and', () => {
    const word = (text: string) => ({ kind: 'text', value: [text] });
    expect(bare(parse('a b or c and (d OR e)'))).toEqual({
      kind: 'or',
      items: [
        { kind: 'and', items: [word('a'), word('b')] },
        { kind: 'and', items: [word('c'), { kind: 'or', items: [word('d'), word('e')] }] },
      ],
    });
  });
});

test.each([
  ['a (b', 2, 'close it'],
  ['a "b', 2, 'close it'],
  ['a or', 4, 'needs a term at its end, after or'],
  ['a and or b', 6, 'put it in quotes'],
  ['- a', 0, 'directly before'],
  ['status:', 7, 'directly after status:'],
  ['level:(a or b)', 6, 'as in (level:a or level:b)'],
  ['a:>5*', 3, 'has * in "5*" after >, which takes a value without wildcards'],
  ['a ::1', 2, 'has : in "::1" after something'],
  [`${'('.repeat(60)}a`, 51, 'nested more than 50 deep'],
  [`${'-'.repeat(60)}a`, 51, 'nested more than 50 deep'],
  ['a '.repeat(129), 256, 'more than 128 terms'],
  [`b ${'é'.repeat(513)}`, 2, 'more than 512 characters, not all of them ASCII'],
  ['a*'.repeat(129), 0, 'more than 128 terms'],
  [`b x:${'*a'.repeat(128)}`, 4, 'texts between *'],
  [`${'a.'.repeat(31)}b:1 `.repeat(17), 16 * 66, 'each 4 names of a field'],
])('rejects, with the place and what would be right: %j', (text, position, message) => {
  const error = errorOf(() => parse(text));
  expect(error.errors).toEqual([{ parameter: 'q', position, message: expect.stringContaining(message) }]);
  expect(error.message).toBe(`the search ${error.errors[0]?.message}`);
});

test('neighbouring * are one, and those at the ends of a text add no term', () => {
  expect(bare(parse(`a${'*'.repeat(4_000)}b`))).toEqual({ kind: 'text', value: ['a', 'b'] });
  expect(() => parse('*a* '.repeat(128))).not.toThrow();
});

test('a field of up to four names adds no term', () => {
  expect(() => parse('a.b.c.d:1 '.repeat(128))).not.toThrow();
  expect(() => parse('a.b.c.d.e:1 '.repeat(64))).not.toThrow();
  expect(() => parse('a.b.c.d.e:1 '.repeat(65))).toThrow('more than 128 terms');
});

test('reads each character a bounded number of times', () => {
  const hostile = ['"', '\\', '"a".', 'a.', '(', '-', 'not ', 'a:', '"\\', '*', ')', 'a '];
  for (const piece of hostile) {
    const text = piece.repeat(65_536 / piece.length);
    const steps = countSteps(() => parseSearch(text, 1_024));
    expect(steps, piece).toBeLessThan(2 * text.length);
  }
});

/** Matches of regular expressions during the work, whatever it throws. */
function countSteps(work: () => unknown): number {
  const { exec } = RegExp.prototype;
  let steps = 0;
  RegExp.prototype.exec = function (text) {
    steps++;
    return exec.call(this, text);
  };
  try {
    work();
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
  } finally {
    RegExp.prototype.exec = exec;
  }
  return steps;
}
