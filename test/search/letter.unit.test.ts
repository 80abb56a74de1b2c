import { expect, test } from 'vitest';
import { casesOf } from '../../src/search/condition.ts';

const LETTERS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code >= 0x80 && (code < 0xd800 || code > 0xdfff))
  .map((code) => String.fromCodePoint(code));

test('letters are the same as by Unicode’s simple case folding, but none beyond ASCII is one of ASCII', () => {
  const cased = LETTERS.filter((letter) =>
    /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(letter),
  );
  const all = cased.join('');
  const wrong = cased.filter(
    (letter) => (casesOf(letter) ?? letter) !== all.match(new RegExp(letter, 'giu'))?.join(''),
  );
  expect(cased.length).toBeGreaterThan(2_900);
  expect(wrong).toEqual([]);
  expect(LETTERS.filter((letter) => casesOf(letter) !== undefined && !cased.includes(letter))).toEqual([]);
});
