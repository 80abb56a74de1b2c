import { expect, test } from 'vitest';
import { parseAnsi } from '../../console/src/format/ansi.ts';
import { showText } from '../../console/src/format/log-text.ts';
import { growth } from '../../trial/growth.ts';

const ESC = '\u001b';

test.each([
  `${ESC}]`,
  `${ESC}[`,
  `${ESC}]0;\\`,
  '\r',
  `${ESC}[31mx`,
  '38;5;1;',
  `${ESC}[${'1;'.repeat(50)}m`,
])('a line of many %j is shown in linear time', (part) => {
  for (const show of [showText, parseAnsi]) {
    const texts = new Map([2_000, 8_000].map((count) => [count, part.repeat(count)]));
    expect(growth((count) => show(texts.get(count) ?? ''), 2_000)).toBeLessThan(3);
  }
});
