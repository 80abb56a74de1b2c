import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAnsi } from '../../console/src/format/ansi.ts';
import { showText } from '../../console/src/format/log-text.ts';
import { growth } from '../../trial/growth.ts';
import { runs } from '../support/property.ts';

const ESC = '\u001b';
const parse = (text: string) => parseAnsi(text).map(({ text: shown, style }) => [shown, style]);

describe('the colours of terminal codes', () => {
  test('are parts of the text until they are reset', () => {
    expect(parse(`a ${ESC}[31mb${ESC}[1mc${ESC}[0md`)).toEqual([
      ['a ', {}],
      ['b', { color: 'red' }],
      ['c', { color: 'red', bold: true }],
      ['d', {}],
    ]);
    expect(parse(`${ESC}[1;4;90;41mx${ESC}[22;24;39my${ESC}[m${ESC}[2Kz`)).toEqual([
      ['x', { bold: true, underline: true, color: 'grey', ground: 'red' }],
      ['y', expect.objectContaining({ bold: false, underline: false, color: undefined, ground: 'red' })],
      ['z', {}],
    ]);
  });

  test('of 256 and of any red, green and blue are the nearest of seven', () => {
    const colorOf = (codes: string) => parseAnsi(`${ESC}[${codes}mx`)[0]?.style.color;
    expect(['38;5;9', '38;5;208', '38;5;21', '38;5;46', '38;5;240', '38;5;231'].map(colorOf)).toEqual([
      'red',
      'yellow',
      'blue',
      'green',
      'grey',
      undefined,
    ]);
    const rgb = ['38;2;200;30;40', '38;2;20;200;220', '38:2:180:60:200', '38;2;90;90;92'].map(colorOf);
    expect(rgb).toEqual(['red', 'cyan', 'magenta', undefined]);
    expect(colorOf('38;5;208;1')).toBe('yellow');
    expect([colorOf('38'), colorOf('999'), colorOf('37')]).toEqual([undefined, undefined, undefined]);
  });

  test('leave the text as it is shown without them, whatever it is', () => {
    const part = fc.constantFrom(
      ESC,
      '[',
      ']',
      '3',
      '1',
      ';',
      '38;5;',
      'm',
      '\u0007',
      '\r',
      '\n',
      '\u202e',
      'a',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(part).map((all) => all.join('')),
        ),
        (text) => {
          const joined = parseAnsi(text).map((one) => one.text);
          expect(joined.join('')).toBe(showText(text));
        },
      ),
      runs(1_000),
    );
  });

  test('take linear time', () => {
    for (const part of [`${ESC}[31mx`, `${ESC}[`, `${ESC}]`, '38;5;1;', `${ESC}[${'1;'.repeat(50)}m`]) {
      const texts = new Map([2_000, 8_000].map((count) => [count, part.repeat(count)]));
      expect(
        growth((count) => parseAnsi(texts.get(count) ?? ''), 2_000),
        part,
      ).toBeLessThan(3);
    }
  });
});
