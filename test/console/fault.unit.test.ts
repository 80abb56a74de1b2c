import { expect, test } from 'vitest';
import { placeOf } from '../../console/src/ui/editor/fault.ts';

const TEXT = 'SELECT a\n  FROM @tables  \n\nLIMIT 10';

function marked(line?: number, column?: number): string | undefined {
  const place = placeOf(TEXT, { message: 'a fault', line, column });
  return place && TEXT.slice(place.from, place.to);
}

test('a fault with a column marks the word there', () => {
  expect(marked(1, 1)).toBe('SELECT');
  expect(marked(2, 8)).toBe('@tables');
  expect(marked(1, 7)).toBe(' ');
});

test('a fault without a column marks its line without the indentation', () => {
  expect(marked(2)).toBe('FROM @tables');
  expect(marked(3)).toBe('');
});

test('a place past the text is the last one of it', () => {
  expect(marked(99)).toBe('LIMIT 10');
  expect(marked(1, 99)).toBe('a');
  expect(marked(3, 5)).toBe('');
});

test('a fault without a line has no place', () => {
  expect(marked()).toBeUndefined();
});
