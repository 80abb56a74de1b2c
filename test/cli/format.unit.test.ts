import { expect, test } from 'vitest';
import { formatTable } from '../../src/cli/format.ts';

test('a table has columns as wide as their cells, which cannot control the terminal', () => {
  const rows = [
    ['one', 22, 'a\nb'],
    ['\x1b[2Jé', 3, ''],
  ];
  expect(formatTable(['name', 'n', 'text'], rows)).toBe('name   n   text\none    22  a b\n\ufffd[2Jé  3');
});
