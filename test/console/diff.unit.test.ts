import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffTexts } from '../../console/src/ui/diff/line-diff.ts';
import { runs } from '../support/property.ts';

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');

test('names added and removed lines, with three equal ones around them', () => {
  const found = diffTexts(lines(1, 20), `${lines(1, 9)}new\n${lines(11, 20)}`);
  expect(found.map(({ kind, lines: { length } }) => [kind, length])).toEqual([
    ['skipped', 6],
    ['equal', 3],
    ['removed', 1],
    ['added', 1],
    ['equal', 3],
    ['skipped', 7],
  ]);
});

test('has nothing to say of equal texts', () => {
  expect(diffTexts('a\n', 'a\n')).toEqual([]);
});

test('shows texts that differ in thousands of lines as replaced', () => {
  const found = diffTexts(lines(1, 5_000), lines(10_001, 15_000));
  expect(found.map(({ kind, lines: { length } }) => [kind, length])).toEqual([
    ['removed', 5_000],
    ['added', 5_000],
  ]);
});

test('without what was added it is the one text, without what was removed the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 })
    .map((all) => `${all.join('\n')}\n`);
  const side = (found: ReturnType<typeof diffTexts>, without: string) =>
    found
      .flatMap(({ kind, lines: part }) => (kind === without ? [] : part.map((line) => `${line}\n`)))
      .join('');
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = diffTexts(before, after);
      if (before === after) return;
      expect([side(found, 'added'), side(found, 'removed')]).toEqual([before, after]);
    }),
    runs(300),
  );
});
