import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showControls, showText } from '../../console/src/format/log-text.ts';
import { formatShort } from '../../console/src/format/number.ts';

const ESC = '\u001b';

describe('the text of an event', () => {
  test.each([
    [`${ESC}[31merror${ESC}[0m: it ended`, 'error: it ended'],
    [`${ESC}[1;38;5;208mwarm${ESC}[m`, 'warm'],
    [`${ESC}[2K${ESC}[1Gline`, 'line'],
    [`${ESC}]0;title\u0007text`, 'text'],
    [`${ESC}]8;;https://example.com${ESC}\\link${ESC}]8;;${ESC}\\`, 'link'],
    [`${ESC}cgone`, '⟨U+001B⟩cgone'],
    [`${ESC}[`, '⟨U+001B⟩['],
    [`${ESC}`, '⟨U+001B⟩'],
  ])('%j is shown without the codes of terminals: %s', (text, shown) => {
    expect(showText(text)).toBe(shown);
  });

  test.each([
    ['user\u202egnp.exe', 'user⟨U+202E⟩gnp.exe'],
    ['\u2066a\u2069\u200f', '⟨U+2066⟩a⟨U+2069⟩⟨U+200F⟩'],
    ['a\0b\u0007\u007f\u0085', 'a⟨U+0000⟩b⟨U+0007⟩⟨U+007F⟩⟨U+0085⟩'],
    ['a\rb\r\nc\td\ne', 'a⟨U+000D⟩b\nc\td\ne'],
    ['\u2028', '⟨U+2028⟩'],
    ['שלום, κόσμε 👩‍👩‍👧 naïve', 'שלום, κόσμε 👩‍👩‍👧 naïve'],
  ])('%j has its control characters visible: %s', (text, shown) => {
    expect(showText(text)).toBe(shown);
    expect(showControls(text)).toBe(shown);
  });

  test('never has a control character, and stays as it is without one', () => {
    const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
    const parts = fc.constantFrom(
      ESC,
      '[',
      ']',
      '0',
      ';',
      'm',
      '\u0007',
      '\\',
      '\u202e',
      '\0',
      '\r',
      'a',
      '\u0090',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(parts).map((all) => all.join('')),
        ),
        (text) => {
          const shown = showText(text);
          expect(controls.test(shown.replaceAll(/[\t\n]/g, ''))).toBe(false);
          expect(showText(shown)).toBe(shown);
        },
      ),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(showText(text)).toBe(text);
      }),
    );
  });

  test.each([`${ESC}]`, `${ESC}[`, `${ESC}[0`, `${ESC}]0;\\`, '\r', `${ESC}${ESC}]`])(
    'takes linear time for many of %j',
    (part) => {
      const text = part.repeat(200_000);
      const startMs = performance.now();
      showText(text);
      expect(performance.now() - startMs).toBeLessThan(2_000);
    },
  );
});

test.each([
  [0, '0'],
  [1_675, '1,675'],
  [1_680, '1,680'],
  [9_999, '9,999'],
  [-9_999, '-9,999'],
  [10_000, '10K'],
  [1_234_567, '1.2M'],
  [0.4213, '0.421'],
  [12.345, '12.3'],
  [1_675.4, '1,675'],
])('the number %d is shown as %s: whole numbers below ten thousand exactly', (value, shown) => {
  expect(formatShort(value)).toBe(shown);
});
