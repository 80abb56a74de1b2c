import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatField, formatTerm, joinSearches } from '../../console/src/format/search-text.ts';
import { showControls, showText } from '../../console/src/format/show.ts';
import { parseField, parseSearch } from '../../src/search/parse.ts';
import { runs } from '../support/property.ts';

const ESC = '\u001b';

describe('the text of an event', () => {
  test.each([
    [`${ESC}[31merror${ESC}[0m: it ended`, 'error: it ended'],
    [`${ESC}[2K${ESC}[1Gline`, 'line'],
    [`${ESC}]0;title\u0007text`, 'text'],
    [`${ESC}]8;;https://example.com${ESC}\\link${ESC}]8;;${ESC}\\`, 'link'],
    [`${ESC}[`, '⟨U+001B⟩['],
  ])('%j is shown without the codes of terminals: %s', (text, shown) => {
    expect(showText(text)).toBe(shown);
  });

  test.each([
    ['user\u202egnp.exe', 'user⟨U+202E⟩gnp.exe'],
    ['\u2066a\u2069\u200f', '⟨U+2066⟩a⟨U+2069⟩⟨U+200F⟩'],
    ['a\0b\u0007\u007f\u0085', 'a⟨U+0000⟩b⟨U+0007⟩⟨U+007F⟩⟨U+0085⟩'],
    ['a\rb\r\nc\td\ne', 'a⟨U+000D⟩b\nc\td\ne'],
    ['שלום, κόσμε 👩‍👩‍👧 naïve', 'שלום, κόσμε 👩‍👩‍👧 naïve'],
  ])('%j has its control characters visible: %s', (text, shown) => {
    expect(showText(text)).toBe(shown);
    expect(showControls(text)).toBe(shown);
  });
});

test('any text is shown without control characters', () => {
  const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
  const part = fc.constantFrom(...'[]031;m\\\0\u0007\r\n\u202e\u0090a', ESC, '38;5;');
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(part).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const shown = showText(text);
      expect(controls.test(shown.replaceAll(/[\t\n]/g, ''))).toBe(false);
    }),
    runs(300),
  );
});

const parse = (text: string) => parseSearch(text, 100);

describe('the text of a search', () => {
  test('has a value that the service reads as exactly this one', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.array(
          texts.filter((one) => one !== ''),
          { minLength: 1, maxLength: 4 },
        ),
        texts,
        (path, value) => {
          const field = formatField(path);
          expect(parseField(field, 'field')).toEqual(path);
          expect(parse(formatTerm(field, value))).toMatchObject({
            kind: 'compare',
            field: path,
            operator: '=',
            value: [value],
          });
        },
      ),
      runs(200),
    );
  });

  test('joins searches so that each still means the same', () => {
    expect(joinSearches(['', ' level:error ', ''])).toBe('level:error');
    expect(joinSearches(['a or b', 'level:error'])).toBe('(a or b) level:error');
    expect(joinSearches(['"a or b"', 'word', 'operator:x'])).toBe('"a or b" word operator:x');
    for (const text of ['a OR(b)', '(a)or b', 'a or"b"', '"a"or b', 'a or -b', 'x or y z'])
      expect(parse(joinSearches([text, 'c']))).toEqual({
        kind: 'and',
        items: [parse(text), parse('c')].map((tree) => expect.objectContaining({ kind: tree?.kind })),
      });
  });
});
